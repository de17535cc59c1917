package conversion

import (
	"encoding/json"
	"fmt"
)

// fields are the fields of one JSON object as they were written.
type fields map[string]json.RawMessage

// read decodes a field, and reports whether it has a value.
func (f fields) read(name string, into any) (bool, error) {
	raw, found := f[name]
	if !found || string(raw) == "null" {
		return false, nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return true, nil
}

func (f fields) set(name string, value any) (err error) {
	f[name], err = json.Marshal(value)
	return err
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
func (f fields) change(name string, change func(fields) error) error {
	var object fields
	if found, err := f.read(name, &object); err != nil || !found {
		return err
	}
	if err := change(object); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.set(name, object)
}

// changeElements changes each object of a list.
func (f fields) changeElements(name string, change func(fields) error) error {
	var elements []fields
	if found, err := f.read(name, &elements); err != nil || !found {
		return err
	}
	for i, element := range elements {
		if element == nil { // null
			continue
		}
		if err := change(element); err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
	}
	return f.set(name, elements)
}

func (f fields) text(name string) (text string) {
	if _, err := f.read(name, &text); err != nil {
		return ""
	}
	return text
}

func (f fields) name() string {
	var metadata fields
	if _, err := f.read("metadata", &metadata); err != nil {
		return ""
	}
	return metadata.text("name")
}
