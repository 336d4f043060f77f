import json, sys

text = open("stdout.txt").read()
citing = [check["id"] for check in json.load(sys.stdin) if sys.argv[1] in check["clauses"]]
assert citing and all(id in text for id in citing), citing
