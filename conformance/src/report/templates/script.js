"use strict";
(() => {
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const boxes = [...document.querySelectorAll("input[name=outcome]")];
  const items = [...document.querySelectorAll("[data-outcome]")];
  const texts = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));

  // Without a chosen outcome everything is shown, and otherwise these outcomes only.
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const outcomes = new Set(boxes.filter((box) => box.checked).flatMap((box) => box.value.split(" ")));
    let count = 0;
    for (const item of items) {
      const isChosen = outcomes.size === 0 || outcomes.has(item.dataset.outcome);
      const fits = isChosen && words.every((word) => texts.get(item).includes(word));
      item.hidden = !fits;
      count += fits ? 1 : 0;
    }
    shown.value = count === items.length ? "" : `${count} of ${items.length} shown`;
  };
  search.addEventListener("input", filter);
  boxes.forEach((box) => box.addEventListener("change", filter));
  search.form.addEventListener("submit", (event) => event.preventDefault());

  // A link to a clause shows its evidence.
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", open);
  open();

  // What is folded would be missing on paper.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll(".finding details:not([open])")];
    folded.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));

  if (navigator.clipboard) {
    for (const button of document.querySelectorAll(".copier")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(button.previousElementSibling.textContent);
          button.textContent = "Copied";
        } catch {
          button.textContent = "Select and copy";
        }
      });
    }
  }
})();
