"use strict";
(() => {
  const finder = document.querySelector(".finder");
  const input = document.getElementById("find");
  const found = document.getElementById("found");
  const status = found.querySelector("[role=status]");
  const list = found.querySelector("ol");

  // Everything with a name, as it stands on the page: the catalogue of errors comes from the server.
  const items = [...document.querySelectorAll("[data-what]")].map((element) => {
    const { what, name } = element.dataset;
    const whole = element.textContent.replace(/\s+/g, " ").trim();
    const text = whole.startsWith(`${name} `) ? whole.slice(name.length + 1) : whole;
    return { id: element.id, what, name, text, lowerName: name.toLowerCase(), lower: `${what} ${name} ${text}`.toLowerCase() };
  });

  const rank = (item, words) => {
    if (item.lowerName === words.join(" ")) return 0;
    if (item.lowerName.startsWith(words[0])) return 1;
    return words.every((word) => item.lowerName.includes(word)) ? 2 : 3;
  };

  // Text with the words marked; made of nodes, so that text stays text.
  const marked = (text, words) => {
    const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    return text.split(new RegExp(`(${pattern})`, "i")).map((part, index) => {
      if (index % 2 === 0) return part;
      const mark = document.createElement("mark");
      mark.textContent = part;
      return mark;
    });
  };

  const excerpt = (text, words) => {
    const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
    const begin = at < 50 ? 0 : Math.min(at, text.indexOf(" ", at - 50) + 1);
    return (begin > 0 ? "…" : "") + text.slice(begin, begin + 150) + (begin + 150 < text.length ? "…" : "");
  };

  const element = (name, kind, children) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.append(...children);
    return made;
  };

  const result = (item, words) => {
    const link = element("a", "", [
      element("span", "name", marked(item.name, words)),
      " ",
      element("span", "what", [item.what]),
      element("span", "excerpt", marked(excerpt(item.text, words), words)),
    ]);
    link.href = `#${item.id}`;
    return element("li", "", [link]);
  };

  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    if (found.hidden) return list.replaceChildren();
    const hits = items.filter((item) => words.every((word) => item.lower.includes(word)));
    hits.sort((one, other) => rank(one, words) - rank(other, words));
    status.textContent = hits.length === 0
      ? `Nothing on this page has “${input.value.trim()}”. Try fewer or shorter words.`
      : `${hits.length} ${hits.length === 1 ? "result" : "results"}`;
    list.replaceChildren(...hits.map((item) => result(item, words)));
    found.scrollTop = 0;
  };

  const close = () => { found.hidden = true; };

  finder.hidden = false;
  input.addEventListener("input", search);
  input.addEventListener("focus", () => { if (input.value.trim()) search(); });
  list.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
  document.addEventListener("click", (event) => {
    if (!found.contains(event.target) && !finder.contains(event.target)) close();
  });
  document.addEventListener("focusin", (event) => {
    if (!found.contains(event.target) && !finder.contains(event.target)) close();
  });

  // From the field down through the results and back.
  const step = (by) => {
    const stops = [input, ...list.querySelectorAll("a")];
    const next = stops[stops.indexOf(document.activeElement) + by];
    if (next) next.focus();
  };
  document.addEventListener("keydown", (event) => {
    const inside = finder.contains(event.target) || found.contains(event.target);
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && event.target !== input) {
      event.preventDefault();
      input.focus();
      input.select();
    } else if (inside && !found.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      step(event.key === "ArrowDown" ? 1 : -1);
    } else if (inside && event.key === "Enter" && event.target === input) {
      list.querySelector("a")?.click();
    } else if (inside && event.key === "Escape") {
      input.value = "";
      close();
      input.focus();
    }
  });

  // The contents: closed by a choice where they lie over the page, and telling where the reader is.
  const contents = document.getElementById("contents");
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && contents.matches(":popover-open")) contents.hidePopover();
  });
  const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const places = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  let waiting = false;
  const locate = () => {
    waiting = false;
    const line = innerHeight / 4;
    const here = places.filter((place) => place.getBoundingClientRect().top <= line).pop() ?? places[0];
    const link = links.get(here?.id);
    if (!link || link.hasAttribute("aria-current")) return;
    links.forEach((other) => other.removeAttribute("aria-current"));
    link.setAttribute("aria-current", "true");
    link.scrollIntoView({ block: "nearest" });
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(locate);
    waiting = true;
  }, { passive: true });
  locate();

  // The clipboard is there over https and on this machine alone.
  if (navigator.clipboard) {
    for (const sample of document.querySelectorAll(".sample")) {
      const button = element("button", "copier", ["Copy"]);
      button.type = "button";
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(sample.querySelector("pre").textContent);
          button.textContent = "Copied";
        } catch {
          button.textContent = "Select and copy";
        }
      });
      sample.querySelector("figcaption").append(button);
    }
  }
})();
