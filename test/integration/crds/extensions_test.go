package crds

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const everyExtension = `
dependencies:
- name: managed-serviceaccount
  tolerate: 1h30m
  version: ">= 0.6.0 < 1.0.0"
  prereleases: {}
- name: legacy-gateway
  type: Conflicts
  version: "< 2"
- name: tunnel
  addOn: cluster-proxy
  type: IfInstalled
  version: ">= 0.5"
  prereleases: {identifiers: [rc, beta]}
  when:
    clusterSelector:
      matchLabels: {network: private}
      matchExpressions: [{key: region, operator: NotIn, values: [cn]}]
    expression: config.mode == 'proxy'
- name: permission-api
  type: Optional
  message: Roles are not propagated
  api: {group: rbac.open-cluster-management.io, version: v1alpha1, kind: ClusterPermission, fields: [spec.clusterRole.subjects]}
- name: any-tunnel
  message: Clusters behind a firewall are unreachable
  anyOf:
  - {addOn: cluster-proxy, version: ">= 0.9", prereleases: {identifiers: [rc]}}
  - {addOn: submariner}
  - {api: {group: example.io, kind: Tunnel, fields: [spec.mode]}}
- name: placement-api
  api: {group: cluster.open-cluster-management.io, kind: PlacementDecision, version: v1beta1, servedBy: Hub}
- name: monitors
  api: {group: monitoring.coreos.com, kind: ServiceMonitor, servedBy: HostingCluster}
- name: core-api
  docs: https://docs.example.io:8443/core-api?lang=en#pods
  api: {kind: ConfigMap}
requirements:
  kubernetes: ">= 1.28"
  ocm: ">= 1.1"
  claims: {version.openshift.io: ">= 4.14", platform.open-cluster-management.io: AWS}
provides:
- {group: gateway.example.io, version: v1, kind: ClusterGateway}
- {kind: Pod}
ordering: Install
`

var _ = Describe("the fields beyond the proposal", func() {
	DescribeTable("are kept, and shown in both versions", func(ctx context.Context, version string) {
		object := withSpec(version, everyExtension)
		Expect(hubClient.Create(ctx, object, client.FieldValidation(metav1.FieldValidationStrict))).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, object) })
		expected := map[string]any{}
		Expect(yaml.Unmarshal([]byte(everyExtension), &expected)).To(Succeed())
		for _, edge := range expected["dependencies"].([]any) {
			if fields := edge.(map[string]any); fields["type"] == nil {
				fields["type"] = "Required"
			}
		}
		for _, version := range []string{"v1alpha1", "v1beta1"} {
			spec := readAddOn(ctx, version, object.GetName()).Object["spec"]
			for field, content := range expected {
				Expect(spec).To(HaveKeyWithValue(field, content), version)
			}
		}
	}, bothVersions)

	DescribeTable("takes 16 expressions and 100 selectors", func(ctx context.Context, version string) {
		object := withSpec(version, "dependencies: ["+
			strings.Repeat(`{name: a, when: {expression: "true"}},`, 16)+
			strings.Repeat(`{name: a, when: {clusterSelector: {matchLabels: {a: b}}}},`, 100)+"]")
		Expect(hubClient.Create(ctx, object, client.DryRunAll)).To(Succeed())
	}, bothVersions)

	for _, version := range []string{"v1alpha1", "v1beta1"} {
		DescribeTable("refuses through "+version, func(ctx context.Context, spec, complaint string) {
			err := hubClient.Create(ctx, withSpec(version, spec), client.FieldValidation(metav1.FieldValidationStrict))
			Expect(apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)).To(BeTrue(), "got error %v", err)
			Expect(err).To(MatchError(ContainSubstring(complaint)))
		},
			Entry("an invalid ordering", `ordering: Upgrade`, "spec.ordering"),
			Entry("an invalid removal", `dependencies: [{name: a, install: Auto, removal: Never}]`, "spec.dependencies[0].removal"),
			Entry("a removal of what others install", `dependencies: [{name: a, removal: WithLastDependent}]`,
				"removal WithLastDependent needs install Auto"),
			Entry("a removal of what is not installed", `dependencies: [{name: a, install: Never, removal: WithLastDependent}]`,
				"removal WithLastDependent needs install Auto"),
			Entry("add-on and API", `dependencies: [{name: a, addOn: b, api: {kind: Pod}}]`, "set addOn or api, not both"),
			Entry("a range for an API", `dependencies: [{name: a, version: "1", api: {kind: Pod}}]`, "the version of an API is api.version"),
			Entry("prereleases of nothing", `dependencies: [{name: a, prereleases: {}}]`, "prereleases needs version"),
			Entry("IfInstalled that asks nothing", `dependencies: [{name: a, type: IfInstalled}]`, "type IfInstalled needs version"),
			Entry("IfInstalled on an API", `dependencies: [{name: a, type: IfInstalled, api: {kind: Pod}}]`, "type IfInstalled needs version"),
			Entry("a link to a script", `dependencies: [{name: a, docs: "javascript:alert(1)"}]`, "spec.dependencies[0].docs"),
			Entry("a long link", `dependencies: [{name: a, docs: "https://a.io/`+strings.Repeat("x", 512)+`"}]`, "spec.dependencies[0].docs"),
			Entry("one alternative", `dependencies: [{name: a, anyOf: [{addOn: b}]}]`, "spec.dependencies[0].anyOf"),
			Entry("nine alternatives", `dependencies: [{name: a, anyOf: [{addOn: a},{addOn: b},{addOn: c},{addOn: d},{addOn: e},{addOn: f},`+
				`{addOn: g},{addOn: h},{addOn: i}]}]`, "spec.dependencies[0].anyOf"),
			Entry("the same alternative twice", `dependencies: [{name: a, anyOf: [{addOn: b},{addOn: c},{addOn: b}]}]`,
				"spec.dependencies[0].anyOf[2]: Duplicate"),
			Entry("an alternative that is nothing", `dependencies: [{name: a, anyOf: [{addOn: b},{version: "1"}]}]`, "set one of addOn and api"),
			Entry("an alternative that is both", `dependencies: [{name: a, anyOf: [{addOn: b},{addOn: c, api: {kind: Pod}}]}]`,
				"set one of addOn and api"),
			Entry("a range for an alternative API", `dependencies: [{name: a, anyOf: [{addOn: b},{version: "1", api: {kind: Pod}}]}]`,
				"the version of an API is api.version"),
			Entry("prereleases of an alternative without a range", `dependencies: [{name: a, anyOf: [{addOn: b},{addOn: c, prereleases: {}}]}]`,
				"prereleases needs version"),
			Entry("alternatives and an add-on", `dependencies: [{name: a, addOn: b, anyOf: [{addOn: b},{addOn: c}]}]`, "addOn excludes anyOf"),
			Entry("alternatives and a range", `dependencies: [{name: a, version: "1", anyOf: [{addOn: b},{addOn: c}]}]`, "version excludes anyOf"),
			Entry("alternatives and prereleases", `dependencies: [{name: a, prereleases: {}, anyOf: [{addOn: b},{addOn: c}]}]`,
				"prereleases excludes anyOf"),
			Entry("alternatives and an API", `dependencies: [{name: a, api: {kind: Pod}, anyOf: [{addOn: b},{addOn: c}]}]`, "api excludes anyOf"),
			Entry("alternatives and tolerance", `dependencies: [{name: a, tolerate: 2m, anyOf: [{addOn: b},{addOn: c}]}]`,
				"tolerate excludes anyOf"),
			Entry("alternatives and settings", `dependencies: [{name: a, config: {expression: "true"}, anyOf: [{addOn: b},{addOn: c}]}]`,
				"config excludes anyOf"),
			Entry("alternatives to conflict with", `dependencies: [{name: a, type: Conflicts, anyOf: [{addOn: b},{addOn: c}]}]`,
				"type must be Required or Optional where anyOf is set"),
			Entry("alternatives if installed", `dependencies: [{name: a, type: IfInstalled, version: "1", anyOf: [{addOn: b},{addOn: c}]}]`,
				"type must be Required or Optional where anyOf is set"),
			Entry("tolerance without a unit", `dependencies: [{name: a, tolerate: "2"}]`, "spec.dependencies[0].tolerate"),
			Entry("short tolerance", `dependencies: [{name: a, tolerate: 500ms}]`, "must be a duration from 1s to 24h"),
			Entry("long tolerance", `dependencies: [{name: a, tolerate: 24h1s}]`, "must be a duration from 1s to 24h"),
			Entry("endless tolerance", `dependencies: [{name: a, tolerate: 9999999999999999h}]`, "spec.dependencies[0].tolerate"),
			Entry("tolerance of an API", `dependencies: [{name: a, tolerate: 2m, api: {kind: Pod}}]`, "tolerate is for an add-on"),
			Entry("tolerance of the absent",
				`dependencies: [{name: a, tolerate: 2m, type: IfInstalled, version: "1"}]`, "tolerate is for an add-on"),
			Entry("a conflict with an API", `dependencies: [{name: a, type: Conflicts, api: {kind: Pod}}]`, "type Conflicts is for an add-on"),
			Entry("tolerance of a conflict", `dependencies: [{name: a, tolerate: 2m, type: Conflicts}]`, "tolerate is for an add-on"),
			Entry("an empty range", `dependencies: [{name: a, version: ""}]`, "spec.dependencies[0].version"),
			Entry("an empty add-on", `dependencies: [{name: a, addOn: ""}]`, "spec.dependencies[0].addOn"),
			Entry("an API without a kind", `dependencies: [{name: a, api: {group: apps}}]`, "spec.dependencies[0].api.kind"),
			Entry("an invalid API group", `dependencies: [{name: a, api: {group: "Apps/v1", kind: Pod}}]`, "spec.dependencies[0].api.group"),
			Entry("an invalid API version", `dependencies: [{name: a, api: {version: "1", kind: Pod}}]`, "spec.dependencies[0].api.version"),
			Entry("an invalid API server", `dependencies: [{name: a, api: {kind: Pod, servedBy: Somewhere}}]`,
				"spec.dependencies[0].api.servedBy"),
			Entry("the boolean that YAML reads for on", `dependencies: [{name: a, api: {kind: Pod, on: Hub}}]`, "spec.dependencies[0].api.true"),
			Entry("an API server of what is provided", `provides: [{kind: Pod, servedBy: Hub}]`, "spec.provides[0].servedBy"),
			Entry("a field with a sign for lists", `dependencies: [{name: a, api: {kind: Pod, fields: ["spec.containers[].image"]}}]`,
				"spec.dependencies[0].api.fields[0]"),
			Entry("a long field", `dependencies: [{name: a, api: {kind: Pod, fields: [`+strings.Repeat("x", 257)+`]}}]`,
				"spec.dependencies[0].api.fields[0]"),
			Entry("many fields", `dependencies: [{name: a, api: {kind: Pod, fields: [`+strings.Repeat("spec,", 17)+`]}}]`,
				"spec.dependencies[0].api.fields"),
			Entry("fields that an add-on provides", `provides: [{kind: Pod, fields: [spec]}]`, "spec.provides[0].fields"),
			Entry("a condition without content", `dependencies: [{name: a, when: {}}]`, "spec.dependencies[0].when"),
			Entry("an empty expression", `dependencies: [{name: a, when: {expression: ""}}]`, "spec.dependencies[0].when.expression"),
			Entry(
				"a long expression", `dependencies: [{name: a, when: {expression: "`+strings.Repeat("x", 4097)+`"}}]`,
				"spec.dependencies[0].when.expression",
			),
			Entry(
				"many expressions", "dependencies: ["+strings.Repeat(`{name: a, when: {expression: "true"}},`, 17)+"]",
				"at most 16 expressions may be in when and config",
			),
			Entry("an empty identifier", `dependencies: [{name: a, version: "1", prereleases: {identifiers: [""]}}]`, "identifiers[0]"),
			Entry("an identifier with a dot", `dependencies: [{name: a, version: "1", prereleases: {identifiers: [rc.1]}}]`, "identifiers[0]"),
			Entry("an empty requirement", `requirements: {kubernetes: ""}`, "spec.requirements.kubernetes"),
			Entry("an empty claim", `requirements: {claims: {a: ""}}`, "spec.requirements.claims"),
			Entry("a requirement of the unknown", `requirements: {docker: "1"}`, "unknown field"),
			Entry("an API provided without a kind", `provides: [{group: apps}]`, "spec.provides[0].kind"),
		)
	}
})

func withSpec(version, text string) *unstructured.Unstructured {
	GinkgoHelper()
	addOn := clusterManagementAddOn(version)
	fields := map[string]any{}
	Expect(yaml.Unmarshal([]byte(text), &fields)).To(Succeed())
	for name, value := range fields {
		addOn.Object["spec"].(map[string]any)[name] = value
	}
	return addOn
}
