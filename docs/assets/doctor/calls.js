// What the catalog knows of calls: what samedevice/introspect/origins.py has of it in Python.

let catalog;

/** Remember the catalog that `explain` was given, for all that reads a line of code. */
export const use = (given) => (catalog = given);
export const load = () => catalog;

/** What an object has under a name; undefined for what every object has. */
export const entry = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

/** The last name of what is called: "zeros" of `torch.zeros(3)`. */
export const called = ({ func }) => nameOf(func);

/** The last name of an attribute or a name; "" of anything else. */
export const nameOf = ({ type, attr, id }) => (type === "Attribute" ? attr : type === "Name" ? id : "");

/** What decides the device of what a function or a method of PyTorch returns: a word of factories.toml, or "". */
export function decidedBy(name) {
  const { functions, methods } = catalog.devices;
  return entry(functions, name) || (entry(methods, name) ?? "");
}

/** What a call passes as `device=`. */
export const deviceArgument = ({ keywords }) => keywords.find(({ arg }) => arg === "device")?.value;
