package conversion

import "encoding/json"

// fields are the fields of one JSON object as they were written.
type fields map[string]json.RawMessage

// read decodes a field, and reports whether it has a value of that type. What has
// another type stays as it was written: an error would fail the conversion of all
// objects of the request, because of one that no schema accepts.
func (f fields) read(name string, into any) bool {
	raw, found := f[name]
	return found && string(raw) != "null" && json.Unmarshal(raw, into) == nil
}

// set sets a field to a text, or to what was read: both have a JSON.
func (f fields) set(name string, value any) {
	f[name], _ = json.Marshal(value)
}

// put sets a field to what was written, and removes it where nothing was.
func (f fields) put(name string, raw json.RawMessage) {
	delete(f, name)
	if raw != nil {
		f[name] = raw
	}
}

// rename renames a field. A field that already has the new name is dropped,
// because the name has no meaning in the version of the object.
func (f fields) rename(from, to string) {
	f.put(to, f[from])
	delete(f, from)
}

// change changes the fields of an object, if there is one of the name.
func (f fields) change(name string, change func(fields)) {
	var object fields
	if f.read(name, &object) {
		change(object)
		f.set(name, object)
	}
}

// changeElements changes each object of a list.
func (f fields) changeElements(name string, change func(fields)) {
	var elements []fields
	if !f.read(name, &elements) {
		return
	}
	for _, element := range elements {
		if element != nil { // null
			change(element)
		}
	}
	f.set(name, elements)
}

func (f fields) text(name string) (text string) {
	f.read(name, &text)
	return text
}

func (f fields) name() string {
	var metadata fields
	f.read("metadata", &metadata)
	return metadata.text("name")
}
