"""A client with nothing but Python's standard library, driven by the description of the service.

No route is written here: operations are found by their ids in /openapi.json, and parameters are put
where the description says. It proposes the example of the description for a file of its own, waits for the event of its promotion, and checks the
proof that the fact is in the signed tree.
"""
import base64
import hashlib
import json
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

order = json.load(sys.stdin)
BASE, TOKEN, KEY = order["url"], order["token"], order["key"]


def fetch(url, method="GET", body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    kind = {} if body is None else {"Content-Type": "application/json"}
    known = {"Authorization": "Bearer " + TOKEN, **kind, **(headers or {})}
    request = urllib.request.Request(url, data=data, method=method, headers=known)
    try:
        return urllib.request.urlopen(request, timeout=120)
    except urllib.error.HTTPError as problem:
        sys.exit(problem.read().decode())


API = json.load(urllib.request.urlopen(BASE + "/openapi.json", timeout=30))
OPERATIONS = {
    operation["operationId"]: (path, method.upper(), operation)
    for path, methods in API["paths"].items()
    for method, operation in methods.items()
}


def call(name, given=None, body=None, headers=None):
    path, method, operation = OPERATIONS[name]
    given, query = dict(given or {}), {}
    for parameter in operation["parameters"]:
        value = given.pop(parameter["name"], None)
        if value is None:
            continue
        if parameter["in"] == "path":
            path = path.replace("{%s}" % parameter["name"], urllib.parse.quote(str(value), safe=""))
        else:
            query[parameter["name"]] = value
    assert not given, "the description knows no %s" % list(given)
    asked = "?" + urllib.parse.urlencode(query) if query else ""
    return fetch(BASE + path + asked, method, body, headers)


# RFC 8032, verification only.
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(one, two):
    a, b = (one[1] - one[0]) * (two[1] - two[0]) % P, (one[1] + one[0]) * (two[1] + two[0]) % P
    c, d = 2 * one[3] * two[3] * D % P, 2 * one[2] * two[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number, point):
    total = (0, 1, 1, 0)
    while number > 0:
        if number & 1:
            total = add(total, point)
        point, number = add(point, point), number >> 1
    return total


def decode(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - x2) % P == 0
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def verify(public, text, signature):
    base_y = 4 * pow(5, P - 2, P) % P
    base = decode(base_y.to_bytes(32, "little"))
    r, s = decode(signature[:32]), int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + text).digest(), "little") % L
    left, right = times(s, base), add(r, times(h, decode(public)))
    return s < L and all(
        (left[at] * right[2] - right[at] * left[2]) % P == 0 for at in (0, 1)
    )


def root_of(leaf, index, size, path):
    """RFC 9162 section 2.1.3.2."""
    node, last, at = leaf, size - 1, index
    for sibling in path:
        assert last > 0
        if at & 1 or at == last:
            node = hashlib.sha256(b"\x01" + sibling + node).digest()
            while not at & 1 and at != 0:
                at, last = at >> 1, last >> 1
        else:
            node = hashlib.sha256(b"\x01" + node + sibling).digest()
        at, last = at >> 1, last >> 1
    assert last == 0
    return node


def raw(digest):
    return bytes.fromhex(digest.split(":")[1])


seen = {}

# The example of the description, for another file.
body = OPERATIONS["proposeAction"][2]["requestBody"]["content"]["application/json"]
[example] = body["examples"].values()
proposal, target = example["value"], order["target"]
action = proposal["descriptor"]["action_id"] = str(uuid.uuid4())
proposal["descriptor"]["created_at"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
proposal["descriptor"]["scope"]["filesystem"]["paths"] = [target.rsplit("/", 1)[0]]
for effect in ("create", "modify"):
    proposal["descriptor"]["effects"]["filesystem"][effect] = [target]
proposal["operation"]["path"] = target


def listen(stream):
    for line in stream:
        text = line.decode().rstrip("\n")
        if not text.startswith("data: "):
            continue
        fact = json.loads(text[6:])
        if fact["record"]["payload"]["action_id"] == action:
            seen.update(fact)
            return


stream = call("followEvents", {"type": "promotion_v1"}, headers={"Accept": "text/event-stream"})
listener = threading.Thread(target=listen, args=(stream,), daemon=True)
listener.start()
answer = json.load(call("proposeAction", {}, proposal, {"Prefer": "wait=60"}))
listener.join(60)
assert seen, "no event came"

proof = json.load(call("proveFact", {"stream": seen["stream"], "seq": seen["seq"]}))
bundle, width = seen["seq"] // 256, min(256, proof["size"] - seen["seq"] // 256 * 256)
tile = "entries/%03d%s" % (bundle, "" if width == 256 else ".p/%d" % width)
data = call("readTile", {"stream": seen["stream"], "tile": tile}).read()
entries = []
while data:
    length = int.from_bytes(data[:2], "big")
    entries.append(data[2 : 2 + length])
    data = data[2 + length :]
entry = entries[seen["seq"] % 256]
assert json.loads(entry)["fact_id"] == seen["fact_id"]
leaf = hashlib.sha256(b"\x00" + entry).digest()
assert leaf == raw(proof["leaf"])
root = root_of(leaf, proof["seq"], proof["size"], [raw(one) for one in proof["path"]])
assert root == raw(proof["root"])

text, signatures = proof["checkpoint"].split("\n\n")
origin, size, shown = text.split("\n")[:3]
assert (int(size), base64.b64decode(shown)) == (proof["size"], root)
name, _, public = KEY.split("+", 2)
assert origin == name
[line] = [one for one in signatures.split("\n") if one.startswith("\u2014 " + name + " ")]
signature = base64.b64decode(line.split(" ")[-1])[4:]
assert verify(base64.b64decode(public)[1:], (text + "\n").encode(), signature)


def is_broken_taken():
    broken = bytes([signature[0] ^ 1]) + signature[1:]
    try:
        return verify(base64.b64decode(public)[1:], (text + "\n").encode(), broken)
    except AssertionError:
        return False


assert not is_broken_taken()
print(json.dumps({"status": answer["status"], "seq": seen["seq"], "proved": True}))
