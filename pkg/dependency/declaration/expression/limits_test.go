package expression

import (
	"strings"
	"testing"
)

// Each of these once kept a processor busy for seconds to years, on every
// cluster, within CEL's cost limit.
func TestExpressionsThatGrowAreRefused(t *testing.T) {
	nested := "x.size() == 0"
	for range 40 {
		nested = "[[x, x]].exists(x, " + nested + ")"
	}
	for name, text := range map[string]string{
		"a list that doubles":                "[[1]]" + strings.Repeat(".map(x, x + x)", 40) + ".exists(x, 2 in x)",
		"a list of lists that doubles":       "[[1]]" + strings.Repeat(".map(x, [x, x])", 40) + ".exists(x, x == x)",
		"a map that doubles":                 "[{'a': 1}]" + strings.Repeat(".map(x, {'a': [x, x]})", 40) + ".exists(x, x == x)",
		"hidden in a list of anything":       "[dyn(1)]" + strings.Repeat(".map(x, [x, x, 'a', 1])", 30) + ".exists(x, x == x)",
		"a text that doubles":                "['aaaaaaaa']" + strings.Repeat(".map(x, x + x)", 20) + ".exists(x, x == 'a')",
		"what is named by a macro":           "[1].exists(x, " + nested + ")",
		"a macro that doubles its operand":   "optional.of(1)" + strings.Repeat(".optMap(x, x)", 10) + ".hasValue()",
		"a type that grows":                  "[1]" + strings.Repeat(".map(x, [x])", 9) + ".size() == 1",
		"brackets in brackets":               strings.Repeat("[", 60) + strings.Repeat("]", 60) + ".size() == 1",
		"a list of variables for each key":   "config.map(k, config).size() == 1",
		"a list within a list within a list": "[[[1]]].size() == 1",
		"a map within a list within a list":  "[[{'a': 1}]].size() == 1",
		"a list of something unknown":        "[dyn([[1]])].size() == 1",
		"a list that is added":               "(['a'] + ['b']).exists(x, x == 'b')",
		"a list that is added in macros":     "[['a']].exists(x, [x + x].exists(y, [y + y].exists(z, 'a' in z)))",
		"a list of anything that is added":   "dyn([1]) + dyn([2]) == [1, 2]",
		"an optional that hides a list":      "[[optional.of([1])]].size() == 1",
		"a pattern that multiplies":          "cluster.name.matches('(a{0,30}){0,30}b')",
		"a pattern that is not written":      "cluster.name.matches(addOn.name)",
		"a pattern that is none":             "cluster.name.matches('(')",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Compile(text); err == nil {
				t.Error("is accepted")
			}
		})
	}
}

func TestExpressionsThatPeopleWriteAreAccepted(t *testing.T) {
	variables := Variables{
		Cluster: Cluster{Name: "c1", Labels: map[string]string{"zone-a": "x", "zone-b": "y"}, Claims: map[string]string{"id": "7"}},
		AddOn:   AddOn{Name: "x", Annotations: map[string]string{"note": "n"}},
		Config:  map[string]string{"mode": "proxy", "peers": "a"},
	}
	for _, text := range []string{
		"config.?mode.orValue('direct') == 'proxy'",
		"cluster.labels.exists(k, k.startsWith('zone-') && cluster.labels[k] in ['x', 'z'])",
		"cluster.labels.filter(k, k.startsWith('zone-')).map(k, cluster.labels[k]).exists(v, v == 'y')",
		"cluster.labels.map(k, k + '=' + cluster.labels[k]).filter(p, p.contains('=')).map(p, p + ';').size() == 2",
		"cluster.labels.all(k, cluster.claims.all(c, cluster.labels[k] != cluster.claims[c]))",
		"cluster.labels.exists_one(k, config.exists(v, config[v] == 'a') && k == 'zone-a')",
		"cluster.name.matches('^c[0-9]+(-[a-z0-9]{1,20})?$')",
		"optional.of(cluster.labels.size()).hasValue() && config[?'mode'].value() == 'proxy'",
		"(" + strings.Repeat("cluster.name == 'c2' || ", 100) + "cluster.name == 'c1')",
		strings.Repeat("1 + ", 40) + "1 == 41",
		strings.Repeat("((", 10) + "true" + strings.Repeat("))", 10),
		"addOn.annotations == {'note': 'n'}",
		"[cluster.labels, config].exists(m, 'zone-a' in m)",
		"[[cluster.name, 'c2'], ['c3']].exists(names, 'c1' in names)",
		"{'c1': ['proxy', 'direct']}[cluster.name].exists(mode, mode == config.mode)",
		"[1, 'proxy'].exists(x, x == config.mode)",
		"{'c1': true, 'c2': false}[cluster.name]",
		"[1, 2, 3].map(x, x * 2) == [2, 4, 6]",
		"cluster.?labels['zone-a'].hasValue() || has(config.mode)",
	} {
		compiled, err := Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if holds, _, err := compiled.Evaluate(variables); err != nil || !holds {
			t.Errorf("%s: %v, %v", text, holds, err)
		}
	}
}

// The cost of a comparison follows the size of its operands.
func TestExpensiveComparisonsExceedTheLimit(t *testing.T) {
	const nested = "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, %)))"
	const large = "[[1,1,1,1,1,1,1,1]].all(x, [x,x,x,x,x,x,x,x] == [x,x,x,x,x,x,x,x])"
	compiled, err := Compile(strings.Replace(nested, "%", large, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := compiled.Evaluate(Variables{AddOn: AddOn{Name: "x"}}); err == nil {
		t.Error("a hundred thousand comparisons are cheap")
	}
}
