package jsonprune

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var drop = Drop{
	Members:  []Member{{"metadata", "managedFields"}, {"status", "big"}, {"kinds", "big"}},
	Elements: []Elements{{Array: "kinds", Member: "type", Keep: []string{"A", "B"}}},
}

func TestPrune(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing to drop", `{"a":1,"b":[true,null,-1.5e+3,"x"]}`, `{"a":1,"b":[true,null,-1.5e+3,"x"]}`},
		{"the first", `{"metadata":{"managedFields":[{"a":{}}],"name":"x"}}`, `{"metadata":{"name":"x"}}`},
		{"in the middle", `{"metadata":{"a":1,"managedFields":[],"name":"x"}}`, `{"metadata":{"a":1,"name":"x"}}`},
		{"the last", `{"metadata":{"a":1,"managedFields":"x"}}`, `{"metadata":{"a":1}}`},
		{"the only one", `{"metadata":{"managedFields":null}}`, `{"metadata":{}}`},
		{"two at the end", `{"status":{"a":1,"big":2,"big":3}}`, `{"status":{"a":1}}`},
		{"in another object", `{"spec":{"managedFields":1}}`, `{"spec":{"managedFields":1}}`},
		{"at the top", `{"managedFields":1}`, `{"managedFields":1}`},
		{
			"in a watch event", `{"type":"ADDED","object":{"metadata":{"managedFields":[1]},"status":{"big":{},"x":0}}}` + "\n",
			`{"type":"ADDED","object":{"metadata":{},"status":{"x":0}}}` + "\n",
		},
		{"in an array", `{"status":[{"big":1},{"big":2,"a":3}]}`, `{"status":[{},{"a":3}]}`},
		{"dropped within dropped", `{"status":{"a":1,"big":{"metadata":{"managedFields":1,"b":2}},"c":3}}`, `{"status":{"a":1,"c":3}}`},
		{
			"elements", `{"kinds":[{"type":"A"},{"type":"C","x":1},{"x":{},"type":"B"},{"type":"D"}]}`,
			`{"kinds":[{"type":"A"},{"x":{},"type":"B"}]}`,
		},
		{"the first and only elements", `{"kinds":[{"type":"C"}],"x":[{"type":"C"}]}`, `{"kinds":[],"x":[{"type":"C"}]}`},
		{
			"elements that cannot be distinguished", `{"kinds":[{},1,{"type":1},[{"type":"C"}],{"type":"\u0041"}]}`,
			`{"kinds":[{},1,{"type":1},[],{"type":"\u0041"}]}`,
		},
		{
			"elements within elements", `{"kinds":[{"type":"C","kinds":[{"type":"A"}]},{"type":"A","kinds":[{"type":"C"},{"type":"B"}]}]}`,
			`{"kinds":[{"type":"A","kinds":[{"type":"B"}]}]}`,
		},
		{"no elements but an object", `{"kinds":{"type":"C"}}`, `{"kinds":{"type":"C"}}`},
		{"members of elements", `{"kinds":[{"big":1,"type":"A"},{"big":[],"type":"C"},{"type":"C","big":{}}]}`, `{"kinds":[{"type":"A"}]}`},
		{"quotes and braces in strings", `{"status":{"a":"}\"{,\\","big":"\\\"}"}}`, `{"status":{"a":"}\"{,\\"}}`},
		{"an escaped name stays", `{"status":{"b\u0069g":1}}`, `{"status":{"b\u0069g":1}}`},
		{"empty", ``, ``},
		{"not compact", `{"status": {"big":1}}`, `{"status": {"big":1}}`},
		{"cut short", `{"status":{"big":1`, `{"status":{"big":1`},
		{"something behind it", `{"status":{"big":1}}x`, `{"status":{"big":1}}x`},
		{"a string that does not end", `{"status":"`, `{"status":"`},
		{"no JSON", `upstream connect error`, `upstream connect error`},
	} {
		if got := string(Prune([]byte("before,"), []byte(c.in), drop)); got != "before,"+c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// FuzzPrune compares with the removal from decoded values.
func FuzzPrune(f *testing.F) {
	f.Add([]byte(`{"metadata":{"managedFields":[{}],"a":"\"}"},"status":{"big":1,"x":[{"big":2}]}}`))
	f.Add([]byte(`{"kinds":[{"type":"A","big":0},{"type":"C","metadata":{"managedFields":1}},[{"type":"D"}]]}`))
	f.Add([]byte(`[1,2,{"status":[[{"big":{}}]]}]`))
	f.Add([]byte(`{"status":{"big":1}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var value any
		if json.Unmarshal(in, &value) != nil {
			Prune(nil, in, drop)
			return
		}
		compact, err := json.Marshal(value)
		if err != nil {
			t.Fatalf("what was decoded from %s cannot be encoded: %v", in, err)
		}
		var got any
		if err := json.Unmarshal(Prune(nil, compact, drop), &got); err != nil {
			t.Fatalf("%s: no JSON is left: %v", compact, err)
		}
		if diff := cmp.Diff(remove(value, ""), got); diff != "" {
			t.Errorf("%s: %s", compact, diff)
		}
	})
}

func remove(value any, name string) any {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			value[key] = remove(member, key)
			for _, dropped := range drop.Members {
				if dropped.Object == name && dropped.Name == key {
					delete(value, key)
				}
			}
		}
	case []any:
		value = slices.DeleteFunc(value, func(element any) bool { return unwanted(element, name) })
		for i := range value {
			value[i] = remove(value[i], name)
		}
		return value
	}
	return value
}

func unwanted(element any, array string) bool {
	object, isObject := element.(map[string]any)
	for _, elements := range drop.Elements {
		kind, isText := object[elements.Member].(string)
		if isObject && isText && elements.Array == array && !slices.Contains(elements.Keep, kind) && !escaped(kind) {
			return true
		}
	}
	return false
}

// escaped reports whether JSON of a string has escapes.
func escaped(text string) bool {
	encoded, err := json.Marshal(text)
	return err != nil || bytes.Contains(encoded, []byte{'\\'})
}

func BenchmarkPrune(b *testing.B) {
	event := []byte(`{"type":"MODIFIED","object":{"metadata":{"name":"x","managedFields":[`)
	for range 40 {
		event = append(event, `{"manager":"registration","fieldsV1":{"f:status":{"f:conditions":{}}}},`...)
	}
	event = append(event, `{}]},"status":{"conditions":[{"type":"Available","status":"True"}]}}}`...)
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		out = Prune(out[:0], event, drop)
	}
}
