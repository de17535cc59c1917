package jsonprune

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type members = map[string]*Drop

var (
	kinds = &Drop{Keep: [][]byte{[]byte(`"type":"A"`), []byte(`"type":"B"`)}}
	drop  = &Drop{Members: members{
		"metadata": {Members: members{"managedFields": nil}},
		"status":   {Members: members{"big": nil, "kinds": kinds, "inner": {Members: members{"big": nil}}}},
		"kinds":    kinds,
		"items":    {Elements: &Drop{Members: members{"big": nil, "items": {Elements: &Drop{Members: members{"big": nil}}}}}},
	}}
)

func TestPrune(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"nothing to drop", `{"a":1,"b":[true,null,-1.5e+3,"x"]}`, `{"a":1,"b":[true,null,-1.5e+3,"x"]}`},
		{"the first", `{"metadata":{"managedFields":[{"a":{}}],"name":"x"}}`, `{"metadata":{"name":"x"}}`},
		{"in the middle", `{"metadata":{"a":1,"managedFields":[],"name":"x"}}`, `{"metadata":{"a":1,"name":"x"}}`},
		{"the last", `{"metadata":{"a":1,"managedFields":"x"}}`, `{"metadata":{"a":1}}`},
		{"the only one", `{"metadata":{"managedFields":null}}`, `{"metadata":{}}`},
		{"two at the end", `{"status":{"a":1,"big":2,"big":3}}`, `{"status":{"a":1}}`},
		{"in another object", `{"spec":{"managedFields":1}}`, `{"spec":{"managedFields":1}}`},
		{"at the top", `{"managedFields":1}`, `{"managedFields":1}`},
		{
			"in two objects, with the end of a line", `{"metadata":{"managedFields":[1]},"status":{"big":{},"x":0,"inner":{"big":[],"a":1}}}` + "\n",
			`{"metadata":{},"status":{"x":0,"inner":{"a":1}}}` + "\n",
		},
		{"in an array", `{"status":[{"big":1}]}`, `{"status":[{"big":1}]}`},
		{"dropped within dropped", `{"status":{"a":1,"big":{"metadata":{"managedFields":1,"b":2}},"c":3}}`, `{"status":{"a":1,"c":3}}`},
		{
			"elements", `{"kinds":[{"type":"A"},{"type":"C","x":1},{"x":{},"type":"B"},{"type":"D"}]}`,
			`{"kinds":[{"type":"A"},{"x":{},"type":"B"}]}`,
		},
		{"the first and only elements", `{"kinds":[{"type":"C"}],"x":[{"type":"C"}]}`, `{"kinds":[],"x":[{"type":"C"}]}`},
		{
			"elements that do not have the text", `{"kinds":[{},1,{"type":1},[{"type":"C"}],{"type":"\u0041"},"A",{"a":"\"type\":\"A\""}]}`,
			`{"kinds":[]}`,
		},
		{"elements with the text in a nested object", `{"kinds":[{"a":{"type":"A"}}]}`, `{"kinds":[{"a":{"type":"A"}}]}`},
		{"an object in place of elements", `{"kinds":{"type":"C"}}`, `{"kinds":{"type":"C"}}`},
		{
			"in each element", `{"items":[{"big":1},{"a":2,"big":[{}]},[{"big":1}],3,"x",{"items":[{"big":1,"a":{"big":1}}]}]}`,
			`{"items":[{},{"a":2},[{"big":1}],3,"x",{"items":[{"a":{"big":1}}]}]}`,
		},
		{"in no element", `{"items":[]}`, `{"items":[]}`},
		{"elements of no array", `{"items":{"big":1}}`, `{"items":{"big":1}}`},
		{"an element that is cut short", `{"items":[{"big":1},{"big":`, `{"items":[{"big":1},{"big":`},
		{"quotes and braces in strings", `{"status":{"a":"}\"{,\\","big":"\\\"}"}}`, `{"status":{"a":"}\"{,\\"}}`},
		{"an escaped name stays", `{"status":{"b\u0069g":1}}`, `{"status":{"b\u0069g":1}}`},
		{"empty", ``, ``},
		{"not compact", `{"status": {"big":1}}`, `{"status": {"big":1}}`},
		{"not compact where it is dropped", `{"status":{"kinds":[{"type": "A"}]}}`, `{"status":{"kinds":[{"type": "A"}]}}`},
		{"cut short", `{"status":{"big":1`, `{"status":{"big":1`},
		{"text after the value", `{"status":{"big":1}}x`, `{"status":{}}x`},
		{"a string that does not end", `{"status":"`, `{"status":"`},
		{"no JSON", `upstream connect error`, `upstream connect error`},
	} {
		if got := string(Prune([]byte("before,"), []byte(c.value), drop)); got != "before,"+c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// FuzzPrune compares Prune with the removal from decoded values.
func FuzzPrune(f *testing.F) {
	f.Add([]byte(`{"metadata":{"managedFields":[{}],"a":"\"}"},"status":{"big":1,"x":[{"big":2}],"inner":{"big":"\\"}}}`))
	f.Add([]byte(`{"kinds":[{"type":"A","big":0},{"type":"C","metadata":{"managedFields":1}},[{"type":"D"}]],"status":{"kinds":[1]}}`))
	f.Add([]byte(`{"items":[{"big":1,"items":[{"big":2}]},[{"big":3}],{"a":{"big":4}}]}`))
	f.Add([]byte(`[1,2,{"status":[[{"big":{}}]]}]`))
	f.Add([]byte(`{"status":{"big":1}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		var value any
		if json.Unmarshal(input, &value) != nil {
			Prune(nil, input, drop)
			return
		}
		compact, err := json.Marshal(value)
		if err != nil {
			t.Fatalf("the value of %s cannot be encoded: %v", input, err)
		}
		var got any
		if err := json.Unmarshal(Prune(nil, compact, drop), &got); err != nil {
			t.Fatalf("%s: no JSON is left: %v", compact, err)
		}
		if diff := cmp.Diff(remove(t, value, drop), got); diff != "" {
			t.Errorf("%s: %s", compact, diff)
		}
	})
}

func remove(t *testing.T, value any, drop *Drop) any {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range drop.Members {
			member, exists := value[name]
			switch {
			case exists && inner == nil:
				delete(value, name)
			case exists:
				value[name] = remove(t, member, inner)
			}
		}
	case []any:
		for i := range value {
			if drop.Elements != nil {
				value[i] = remove(t, value[i], drop.Elements)
			}
		}
		if drop.Keep == nil {
			return value
		}
		return slices.DeleteFunc(value, func(element any) bool {
			encoded, err := json.Marshal(element)
			if err != nil {
				t.Fatal(err)
			}
			return !slices.ContainsFunc(drop.Keep, func(text []byte) bool { return bytes.Contains(encoded, text) })
		})
	}
	return value
}

func BenchmarkPrune(b *testing.B) {
	event := []byte(`{"metadata":{"name":"x","managedFields":[`)
	for range 40 {
		event = append(event, `{"manager":"registration","fieldsV1":{"f:status":{"f:conditions":{}}}},`...)
	}
	event = append(event, `{}]},"status":{"conditions":[{"type":"Available","status":"True"}]}}`...)
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		out = Prune(out[:0], event, drop)
	}
}
