package suggestion

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/test/fixture"
)

// workload returns the workload of an add-on with manifests in YAML.
func workload(t *testing.T, addOn string, manifests ...string) Workload {
	t.Helper()
	w := Workload{AddOn: addOn, Source: "AddOnTemplate " + addOn}
	for _, manifest := range manifests {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
			t.Fatal(err)
		}
		w.Manifests = append(w.Manifests, object)
	}
	return w
}

func crd(group, kind string) string {
	return fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		spec: {group: %s, names: {kind: %s, plural: %ss}}}`, group, kind, strings.ToLower(kind))
}

func object(group, kind string) string {
	return fmt.Sprintf(`{apiVersion: %s/v1, kind: %s, metadata: {name: x}}`, group, kind)
}

func rules(group, resources string) string {
	return fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r},
		rules: [{nonResourceURLs: [/x]}, {apiGroups: ["", %s], resources: [%s], verbs: [get]}]}`, group, resources)
}

func TestFind(t *testing.T) {
	certs := workload(t, "certs", crd("cert.io", "Certificate"))
	for name, test := range map[string]struct {
		registered []addonv1alpha1.ClusterManagementAddOn
		workloads  []Workload
		want       string
	}{
		"an object of another's API": {
			workloads: []Workload{certs, workload(t, "a", object("cert.io", "Certificate"))},
			want:      "a: certs (Required) AddOnTemplate a: has Certificate x (cert.io)",
		},
		"rules for another's API": {
			workloads: []Workload{certs, workload(t, "a", rules("cert.io", "certificates/status"))},
			want:      "a: certs (Required) AddOnTemplate a: ClusterRole r has rules for certificates.cert.io",
		},
		"rules for all of its group, twice": {
			workloads: []Workload{certs, workload(t, "a", rules("cert.io", `"*"`), rules("cert.io", `"*"`))},
			want:      "a: certs (Required) AddOnTemplate a: ClusterRole r has rules for certificates.cert.io",
		},
		"rules for all groups":       {workloads: []Workload{certs, workload(t, "a", rules(`"*"`, `"*"`))}},
		"rules for another resource": {workloads: []Workload{certs, workload(t, "a", rules("cert.io", "issuers"))}},
		"a kind that no add-on has":  {workloads: []Workload{certs, workload(t, "a", object("cert.io", "Issuer"))}},
		"its own API":                {workloads: []Workload{workload(t, "a", crd("cert.io", "Certificate"), object("cert.io", "Certificate"))}},
		"an API that both install": {
			workloads: []Workload{certs, workload(t, "a", crd("cert.io", "Certificate"), object("cert.io", "Certificate"))},
		},
		"a group of Kubernetes": {
			workloads: []Workload{workload(t, "b", crd("apps", "Deployment")), workload(t, "a", object("apps", "Deployment"))},
		},
		"a group that OCM itself has": {
			workloads: []Workload{
				workload(t, "b", crd("work.open-cluster-management.io", "AppliedManifestWork")),
				workload(t, "a", object("work.open-cluster-management.io", "AppliedManifestWork")),
			},
		},
		"a group of an add-on of OCM": {
			workloads: []Workload{
				workload(t, "b", crd("policy.open-cluster-management.io", "Policy")),
				workload(t, "a", object("policy.open-cluster-management.io", "Policy")),
			},
			want: "a: b (Required) AddOnTemplate a: has Policy x (policy.open-cluster-management.io)",
		},
		"declared": {
			registered: fixture.Registrations("a: certs?"),
			workloads:  []Workload{certs, workload(t, "a", object("cert.io", "Certificate"))},
		},
		"declared under another name": {
			registered: []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "a", "dependencies: [{name: tls, addOn: certs}]")},
			workloads:  []Workload{certs, workload(t, "a", object("cert.io", "Certificate"))},
		},
		"declared by its API": {
			registered: []addonv1alpha1.ClusterManagementAddOn{
				fixture.Specified(t, "a", "dependencies: [{name: tls, api: {group: cert.io, kind: Certificate}}]"),
			},
			workloads: []Workload{certs, workload(t, "a", object("cert.io", "Certificate"))},
		},
		"declared of the hub's API": {
			registered: []addonv1alpha1.ClusterManagementAddOn{
				fixture.Specified(t, "a", "dependencies: [{name: tls, api: {group: cert.io, kind: Certificate, servedBy: Hub}}]"),
			},
			workloads: []Workload{certs, workload(t, "a", object("cert.io", "Certificate"))},
			want:      "a: certs (Required) AddOnTemplate a: has Certificate x (cert.io)",
		},
		"provided by declaration": {
			registered: []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "certs", "provides: [{group: cert.io, kind: Certificate}]")},
			workloads:  []Workload{workload(t, "a", object("cert.io", "Certificate"))},
			want:       "a: certs (Required) AddOnTemplate a: has Certificate x (cert.io)",
		},
		"brought by two": {
			workloads: []Workload{certs, workload(t, "acme", crd("cert.io", "Certificate")), workload(t, "a", object("cert.io", "Certificate"))},
			want:      "a: certificate (Required, cert.io Certificate) AddOnTemplate a: has Certificate x (cert.io)",
		},
		"it would close a cycle": {
			registered: fixture.Registrations("certs: b, b: a"),
			workloads:  []Workload{certs, workload(t, "a", object("cert.io", "Certificate"))},
			want:       "a: certs (Optional) AddOnTemplate a: has Certificate x (cert.io)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, suggestion := range Find(catalog.New(test.registered), test.workloads, func(group string) bool { return group == "apps" }) {
				edge := string(suggestion.Dependency.Type)
				if api := suggestion.Dependency.API; api != nil {
					edge += ", " + api.Group + " " + api.Kind
				}
				got = append(got, fmt.Sprintf("%s: %s (%s) %s",
					suggestion.AddOn, suggestion.Dependency.Name, edge, strings.Join(suggestion.Because, "; ")))
			}
			if strings.Join(got, "\n") != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
