import json

checks = json.load(open("r.json"))["checks"]
third = [(check, finding) for check in checks for finding in check["findings"] if "sent a third time" in finding["expected"]]
check, finding = third[0]
shown = finding["exchanges"]
assert shown == list(range(shown[0], shown[0] + 3)), shown
assert set(shown) <= {exchange["index"] for exchange in check["exchanges"]}, check["exchanges"]
