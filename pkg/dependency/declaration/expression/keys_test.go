package expression

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func (n Names) String() string {
	if n.All {
		return "all"
	}
	var names []string
	for name := range n.named {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		"true":                                      "||",
		"config.a == 'x' || config['b.c'] == ''":    "||a b.c",
		"config.?a.orValue('') == 'x'":              "||a",
		"config[?'a'].orValue('') == 'x'":           "||a",
		"has(config.a) && 'b' in config":            "||a b",
		"config.size() == 1":                        "||all",
		"config[cluster.name] == 'x'":               "||all",
		"config.exists(k, config[k] == addOn.name)": "||all",
		"cluster.labels['a'] == 'x'":                "||",
		"addOn.labels.zone == 'a'":                  "zone||",
		"'zone' in addOn.labels && addOn.annotations['tier'] == addOn.name": "zone|tier|",
		"has(addOn.annotations.tier)":                                       "|tier|",
		"addOn.?annotations.hasValue()":                                     "all|all|",
		"[config].exists(c, c.a == 'x')":                                    "||all",
		"[addOn].exists(a, a.name == 'x')":                                  "all|all|",
		"addOn == addOn":                                                    "all|all|",
		"addOn.labels.size() > 0 && config.a == ''":                         "all||a",
	} {
		compiled, err := Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		keys := compiled.Keys()
		if got := fmt.Sprintf("%s|%s|%s", keys.Labels, keys.Annotations, keys.Config); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
