package rawjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	const text = ` {"a" : {"b":[1,{"c":"}"}] , "d":"x\\" },"a":2, "e":null,"q\"":"\"{" ,"f":-1.5e3 } `
	for _, test := range []struct {
		path []string
		want string
	}{
		{nil, text},
		{[]string{"a"}, `{"b":[1,{"c":"}"}] , "d":"x\\" }`},
		{[]string{"a", "b"}, `[1,{"c":"}"}]`},
		{[]string{"a", "d"}, `"x\\"`},
		{[]string{"e"}, "null"},
		{[]string{`q\"`}, `"\"{"`},
		{[]string{"f"}, "-1.5e3"},
		{[]string{"b"}, ""},
		{[]string{"f", "g"}, ""},
		{[]string{"a", "b", "c"}, ""},
	} {
		if got := string(Find([]byte(text), test.path...)); got != test.want {
			t.Errorf("%q: %s", test.path, got)
		}
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		`{"a":[1,2,3],"b":{}}`:         6,
		`{"a":",,,[[[{{{"}`:            1,
		`{"a":"\",\\\",","b":"\\"}`:    2,
		``:                             0,
		`"` + strings.Repeat(",", 1e6): 0,
	} {
		if got := Count([]byte(text)); got != want {
			t.Errorf("%.30s: %d", text, got)
		}
	}
}

func TestCountElements(t *testing.T) {
	for text, want := range map[string]int{
		`{"a":[1,2,3],"b":{"c":1,"d":2}}`:      3,
		`[{"a":[{},{}],"b":"[,"},"x,y",[]]`:    6,
		`{"a":1,"b":2}`:                        0,
		`]},,[`:                                1,
		`"` + strings.Repeat("[", 1e6):         0,
		`[` + strings.Repeat(`1,`, 1e6) + `1]`: 1e6 + 1,
	} {
		if got := CountElements([]byte(text)); got != want {
			t.Errorf("%.30s: %d", text, got)
		}
	}
}

// FuzzMembers compares the results with the standard library, and looks for texts that cause a panic.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[{"c":"\\"}],"d":"\"}"}`, `[1,[2,{}],"," , "]"]`, `{}`, `[]`,
		`{"`, `{"a`, `{"a"`, `{"a":`, `[,`, `{,}`, `"`, ``, `{"a":1`, `{1:2}`, ` { "a" : [ ] } `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		members, elements := map[string]string{}, []string{}
		for name, value := range Members(text) {
			members[string(name)] = string(value)
		}
		for value := range Elements(text) {
			elements = append(elements, string(value))
		}
		Count(text)
		CountElements(text)
		if !json.Valid(text) {
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) == nil && !strings.Contains(string(text), `\`) && strings.ToValidUTF8(string(text), "") == string(text) {
			want := map[string]string{}
			for name, value := range object {
				want[name] = string(value)
			}
			if !reflect.DeepEqual(members, want) {
				t.Errorf("%s: %q, want %q", text, members, want)
			}
		}
		var array []json.RawMessage
		if json.Unmarshal(text, &array) == nil {
			want := []string{}
			for _, value := range array {
				want = append(want, string(value))
			}
			if !reflect.DeepEqual(elements, want) {
				t.Errorf("%s: %q, want %q", text, elements, want)
			}
		}
	})
}
