package chart

import (
	"fmt"
	"slices"
	"testing"
)

// Values that differ from one rendering to the next one are found, with their file and their field.
func TestRandomValues(t *testing.T) {
	const secret = gateway + "== templates/login.yaml\napiVersion: v1\nkind: Secret\nmetadata: {name: login}\n"
	for name, test := range map[string]struct {
		files string
		want  []string
	}{
		"none": {gateway, nil},
		"a password": {
			secret + "stringData: {token: {{ randAlphaNum 16 }}}\n", []string{"gateway/templates/login.yaml: Secret login: stringData.token"},
		},
		"only without a value": {
			secret + "stringData: {token: {{ .Values.strategy | default (randAlphaNum 16) }}}\n", nil,
		},
		"in a list": {
			secret + "more:\n- {a: 1}\n- {a: {{ uuidv4 }}, b: 1}\n", []string{"gateway/templates/login.yaml: Secret login: more[1].a"},
		},
		"a certificate": {
			secret + "data: {{- $ca := genCA \"c\" 1 }}\n  crt: {{ $ca.Cert | b64enc }}\n  key: {{ $ca.Key | b64enc }}\n",
			[]string{"gateway/templates/login.yaml: Secret login: data.crt", "gateway/templates/login.yaml: Secret login: data.key"},
		},
		"one of two values": {secret + "replicas: {{ randInt 1 3 }}\n", []string{"gateway/templates/login.yaml: Secret login: replicas"}},
		"one of two values, by a template among the values": {
			secret + "replicas: {{ tpl .Values.count . }}\n== values.yaml\ncount: '{{ randInt 1 3 }}'\n",
			[]string{"gateway/templates/login.yaml: Secret login: replicas"},
		},
		"a comment": {secret + "# {{ uuidv4 }}\n", nil},
		"the name":  {gateway + "== templates/c.yaml\nkind: C\nmetadata: {name: {{ uuidv4 }}}\n", nil},
		"in a dependency": {
			gateway + "== charts/b/Chart.yaml\napiVersion: v2\nname: b\nversion: 1.0.0\n" +
				"== charts/b/templates/b.yaml\napiVersion: v1\nkind: C\nmetadata: {name: c}\nid: {{ uuidv4 }}\n",
			[]string{"gateway/charts/b/templates/b.yaml: C c: id"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rendered, err := Render(folder(t, test.files))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, random := range rendered.Random {
				got = append(got, random.String())
			}
			if name == "the name" {
				if len(rendered.Random) != 1 || rendered.Random[0].Field != "metadata.name" {
					t.Errorf("got %q", got)
				}
				return
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestTemplatesThatReadTheTime(t *testing.T) {
	rendered, err := Render(folder(t, gateway+"== templates/c.yaml\nkind: C\nmetadata: {name: c}\ndate: {{ now | date \"2006\" | quote }}\n"))
	if err != nil || fmt.Sprint(rendered.Timed) != "[gateway/templates/c.yaml]" {
		t.Errorf("got %v, %v", rendered, err)
	}
}
