package expression

import (
	"fmt"
	"strings"
	"testing"
)

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"true", "config.?mode.orValue('') == 'proxy'", "cluster.labels['a'] == addOn.annotations.b", "[1].map(x, x)[0] == 1",
		"cluster.claims.exists(c, c.startsWith('a'))", "config.a.matches('(a+)+$')", "1/0 == 1", "cluster",
		"config.all(k, config[k] == k)", "'\\x00'",
	} {
		f.Add(seed, "value")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if len(text) > 4096 {
			return
		}
		compiled, err := Compile(text)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("refused without a reason")
			}
			return
		}
		values := map[string]string{"a": value, "mode": "proxy"}
		variables := Variables{
			Cluster: Cluster{Labels: values, Claims: values, Version: value},
			AddOn:   AddOn{Name: "x", Labels: values}, Config: values,
		}
		first, _, firstErr := compiled.Evaluate(variables)
		second, _, secondErr := compiled.Evaluate(variables)
		if first != second || fmt.Sprint(firstErr) != fmt.Sprint(secondErr) {
			t.Errorf("%t, %v, then %t, %v", first, firstErr, second, secondErr)
		}
	})
}
