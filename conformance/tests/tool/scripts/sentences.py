import json, sys

texts = [item[sys.argv[1]] for item in json.load(open("stdout.txt"))]
assert len(texts) > 5 and all(len(text) > int(sys.argv[2]) and text.endswith(".") for text in texts), texts
print(len(texts))
