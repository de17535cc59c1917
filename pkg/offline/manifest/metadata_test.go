package manifest

import (
	"strings"
	"testing"
)

// YAML reads an unquoted 1.10 as a number. Both readers say which value it is, as the file has it.
func TestValuesThatAreNoStrings(t *testing.T) {
	const (
		registration = "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\n"
		template     = "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\n"
		end          = "spec: {addonName: a}\n"
		key          = "dependency.addon.open-cluster-management.io/version"
	)
	for name, test := range map[string]struct{ content, want string }{
		"a registration": {
			registration + "metadata:\n  name: a\n  annotations:\n    " + key + ": 1.10\n",
			"metadata.annotations[" + key + `]: its value 1.10 is a number, and must be a string: put it in quotes, "1.10"`,
		},
		"a template": {
			template + "metadata: {name: a, annotations: {" + key + ": 1.20}}\n" + end, `its value 1.20 is a number, and must be a string`,
		},
		"the label of a template": {
			template + "metadata: {name: a, labels: {app.kubernetes.io/version: 2}}\n" + end,
			`metadata.labels[app.kubernetes.io/version]: its value 2 is a number`,
		},
		"a boolean of YAML 1.1": {
			registration + "metadata: {name: a, annotations: {c: yes}}\n",
			`its value yes is a boolean, and must be a string: put it in quotes, "yes"`,
		},
		"a name": {
			registration + "metadata:\n  name: y\n",
			`metadata.name: its value y is a boolean, and must be a string: put it in quotes, "y"`,
		},
		"a namespace": {registration + "metadata: {name: a, namespace: 1}\n", `metadata.namespace: its value 1 is a number`},
		"no number of JSON": {
			registration + "metadata:\n  name: a\n  annotations: {c: d}\n---\na: -.inf\n",
			`line 7: the value -.inf is a number that JSON does not have`,
		},
		"a boolean": {registration + "metadata: {name: a, annotations: {c: true}}\n", `metadata.annotations[c]: its value true is a boolean`},
		"an object": {registration + "metadata: {name: a, annotations: {b: {c: d}}}\n", `metadata.annotations[b]: its value must be a string`},
		"in a list": {
			"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(registration, "\n", "\n  ") +
				"metadata: {name: a, annotations: {b: 1.10}}\n",
			`its value 1.10 is a number`,
		},
		"in JSON": {
			`{"apiVersion": "addon.open-cluster-management.io/v1alpha1", "kind": "ClusterManagementAddOn", ` +
				`"metadata": {"name": "a", "annotations": {"b": 1.10}}}`, `its value 1.10 is a number`,
		},
		"the second object": {
			registration + "metadata: {name: a, annotations: {b: '1.10'}}\n---\n" + registration + "metadata: {name: b, annotations: {b: 1.20}}\n",
			`its value 1.20 is a number`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode("a.yaml", []byte(test.content)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s", err, test.want)
			}
			read := decode(place{path: "a.yaml"}, []byte(test.content))
			if len(read.Broken) != 1 || !strings.Contains(read.Broken[0].Message, test.want) || read.Broken[0].Line == 0 {
				t.Errorf("lint finds %v\nwant %s", read.Broken, test.want)
			}
		})
	}
}
