package hub

import (
	compare "cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// shaken is a hub on which all inputs of verdicts change at random.
type shaken struct {
	chance           *rand.Rand
	clusters, addOns []string
	templates        []string // AddOnTemplates of the versions 0.5.0 and 0.6.0
}

func newShaken() *shaken {
	GinkgoHelper()
	s := &shaken{chance: rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0)), addOns: make([]string, 10), clusters: make([]string, 5)}
	for _, version := range []string{"0.5.0", "0.6.0"} {
		template := addOnTemplate(unique("template"))
		template.SetAnnotations(map[string]string{addonv1alpha1.AddOnVersionAnnotation: version})
		create(template)
		s.templates = append(s.templates, template.GetName())
	}
	for i := range s.addOns {
		s.addOns[i] = unique("agreed")
		registration := register(s.addOns[i], s.edges(s.addOns[:i])...)
		if s.chance.IntN(3) == 0 {
			amend(registration.Name, func(addOn *addonv1alpha1.ClusterManagementAddOn) {
				addOn.Spec.Requirements = &addonv1alpha1.AddonRequirements{
					Kubernetes: ">= 1.30", Claims: map[string]addonv1alpha1.ClaimRequirement{"product": "OpenShift"},
				}
			})
		}
	}
	for i := range s.clusters {
		s.clusters[i] = newCluster()
		accept(s.clusters[i])
		installAvailable(s.clusters[i], agentAddOn)
		configure(s.clusters[i], "on", "on")
		configure(s.clusters[i], "off", "off")
		for _, addOn := range s.addOns {
			if s.chance.IntN(5) > 0 {
				installAvailable(s.clusters[i], addOn)
			}
		}
	}
	return s
}

// edges returns edges of all kinds, on some of the add-ons.
func (s *shaken) edges(clusters []string) (edges []addonv1alpha1.AddonDependency) {
	for _, name := range clusters {
		edge := required(name)
		switch s.chance.IntN(12) {
		case 0:
		case 1:
			edge = optional(name)
		case 2:
			edge.Name, edge.AddOn = name+"-too", name
		case 3:
			edge.When = &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"gated": "true"}}}
		case 4:
			edge.When = &addonv1alpha1.DependencyWhen{Expression: "config.?mode.orValue('') == 'on'"}
		case 5, 6:
			edge.Version = ">= 0.6"
		case 7:
			edge.Type, edge.Version = addonv1alpha1.DependencyTypeIfInstalled, ">= 0.6"
		default:
			continue
		}
		edges = append(edges, edge)
	}
	if s.chance.IntN(3) == 0 {
		edges = append(edges, addonv1alpha1.AddonDependency{
			Name: "kinds", Type: addonv1alpha1.DependencyTypeRequired,
			API: &addonv1alpha1.DependencyAPI{
				AddonAPI: addonv1alpha1.AddonAPI{Group: "agreed.io", Kind: fmt.Sprintf("Kind%d", s.chance.IntN(2))},
				ServedBy: pick(s.chance, "", addonv1alpha1.APIServerHub, addonv1alpha1.APIServerHostingCluster),
			},
		})
	}
	return edges
}

// shake changes an add-on, its cluster, or the state of the agent there.
func (s *shaken) shake() {
	GinkgoHelper()
	cluster, addOn := pick(s.chance, s.clusters...), pick(s.chance, s.addOns...)
	version, err := version(cluster, addOn)()
	statuses := []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse}
	switch roll := s.chance.IntN(18); {
	case roll == 16:
		s.defineOrDelete("Kind0")
	case roll == 17 && err == nil && version != "":
		host(cluster, addOn, pick(s.chance, append(s.clusters, "", "unregistered")...))
	case roll == 0:
		s.loseOrReturn(cluster)
	case roll == 1:
		reportFacts(cluster, pick(s.chance, statuses...), pick(s.chance, "", "0.5.0", "0.6.0"))
	case roll == 2:
		report(cluster, agentAddOn, pick(s.chance, statuses...), leaseStale)
	case roll == 3:
		label(cluster, "gated", pick(s.chance, "true", "false"))
	case roll == 4:
		setStatus(cluster, kubernetesVersion(pick(s.chance, "v1.29.3", "v1.31.0")))
	case roll == 5:
		setStatus(cluster, claim("product", pick(s.chance, "OpenShift", "Other")))
	case err != nil || version == "":
		installAvailable(cluster, addOn)
	case roll == 6:
		uninstall(cluster, addOn)
	case roll == 7:
		versionAnnotation(cluster, addOn, pick(s.chance, "0.5.0", "0.6.0"))
	case roll == 8:
		refer(cluster, addOn, pick(s.chance, "on", "off"))
	case roll == 9:
		oldTemplate, newTemplate := pick(s.chance, s.templates...), pick(s.chance, s.templates...)
		deploy(cluster, addOn, oldTemplate, oldTemplate)
		deploy(cluster, addOn, pick(s.chance, "", newTemplate), newTemplate)
	case roll < 12:
		report(cluster, addOn, metav1.ConditionFalse, leaseStale)
	default:
		report(cluster, addOn, metav1.ConditionTrue, leaseFresh)
	}
}

// defineOrDelete begins or ceases to serve a kind that edges refer to.
func (s *shaken) defineOrDelete(kind string) {
	GinkgoHelper()
	crd := customResource("agreed.io", kind)
	if s.chance.IntN(2) == 0 {
		Expect(client.IgnoreNotFound(hubClient.Delete(ctx, crd))).To(Succeed())
		return
	}
	// A definition that is still being deleted is created in another round.
	Expect(client.IgnoreAlreadyExists(hubClient.Create(ctx, crd))).To(Succeed())
	DeferCleanup(func() { Expect(client.IgnoreNotFound(hubClient.Delete(ctx, crd))).To(Succeed()) })
}

// customResource returns the definition of a kind.
func customResource(group, kind string) *apiextensionsv1.CustomResourceDefinition {
	singular := strings.ToLower(kind)
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: singular + "s." + group}}
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: group, Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: singular + "s", Singular: singular, Kind: kind, ListKind: kind + "List"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
		}},
	}
	return crd
}

// host makes another managed cluster run the agent of an add-on. The add-on's own cluster runs it if host is empty.
func host(cluster, addOn, host string) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: cluster, Name: addOn}
	alter(&addonv1alpha1.ManagedClusterAddOn{}, key, false, func(a *addonv1alpha1.ManagedClusterAddOn) {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, ocmv1alpha1.HostingClusterNameAnnotationKey, host)
	})
}

// loseOrReturn makes the hub lose the cluster as OCM does, or report it as available again.
func (s *shaken) loseOrReturn(cluster string) {
	GinkgoHelper()
	if s.chance.IntN(3) > 0 {
		reach(cluster, metav1.ConditionTrue)
		return
	}
	lose(cluster)
	for addOn := range must(versions(cluster)) {
		report(cluster, addOn, metav1.ConditionUnknown, clusterLost)
	}
}

func pick[T any](chance *rand.Rand, items ...T) T { return items[chance.IntN(len(items))] }

// reportFacts reports all requested facts, as an agent that is an add-on: whether APIs are served, and versions. It reports
// whether facts are
// requested.
func reportFacts(cluster string, served metav1.ConditionStatus, version string) bool {
	GinkgoHelper()
	key, facts := types.NamespacedName{Namespace: cluster, Name: cluster}, &dependencyv1alpha1.ManagedClusterFacts{}
	if hubClient.Get(ctx, key, facts) != nil {
		return false
	}
	alter(facts, key, true, func(facts *dependencyv1alpha1.ManagedClusterFacts) {
		facts.Status = dependencyv1alpha1.ManagedClusterFactsStatus{ObservedGeneration: facts.Generation, AgentAddOn: agentAddOn}
		for _, api := range facts.Spec.APIs {
			facts.Status.APIs = append(facts.Status.APIs, dependencyv1alpha1.APIFact{API: api.API, Served: served})
		}
		for _, addOn := range facts.Spec.AddOns {
			fact := dependencyv1alpha1.AddOnFact{AddOn: addOn, Version: version}
			if version == "" {
				fact.Reason, fact.Message = dependencyv1alpha1.ReasonLeaseNotFound, "the add-on has no lease"
			}
			facts.Status.AddOns = append(facts.Status.AddOns, fact)
		}
	})
	return true
}

// differences returns the differences between a stored report and the report that the plugin prints. The plugin has no last verdict of
// held edges. addon-manager also has a verdict where it remembers the AddOnTemplate that ran before a rollout. The plugin then holds
// that edge and explains why.
func differences(cluster string, report, plugin *dependencyReport) (differ []string) {
	if report == nil || plugin == nil {
		if report != plugin {
			differ = append(differ, fmt.Sprintf("%s: one report is missing: %v, %v", cluster, report, plugin))
		}
		return differ
	}
	report, plugin = content(report), content(plugin)
	heldEdges, explainedEdges := map[string]bool{}, map[string]bool{}
	for _, edge := range plugin.Edges {
		heldEdges[edge.AddOn+">"+edge.Dependency] = edge.Held
		explainedEdges[edge.AddOn+">"+edge.Dependency] = edge.Held && edge.Found != ""
	}
	for _, edge := range report.Edges {
		if heldEdges[edge.AddOn+">"+edge.Dependency] && !edge.Held && !explainedEdges[edge.AddOn+">"+edge.Dependency] {
			differ = append(differ, fmt.Sprintf("%s: held by the plugin only, without a reason: %+v", cluster, edge))
		}
	}
	for _, report := range []*dependencyReport{report, plugin} {
		remaining := report.Edges[:0]
		for _, edge := range report.Edges {
			if !heldEdges[edge.AddOn+">"+edge.Dependency] {
				remaining = append(remaining, edge)
			}
		}
		report.Edges = remaining
		report.Pending = slices.DeleteFunc(report.Pending, func(p dependencyv1alpha1.PendingEdge) bool {
			return heldEdges[p.AddOn+">"+p.Dependency]
		})
		slices.SortFunc(report.Edges, func(a, b dependencyv1alpha1.ReportedEdge) int {
			return compare.Or(compare.Compare(a.AddOn, b.AddOn), compare.Compare(a.Dependency, b.Dependency))
		})
		if slices.Contains(slices.Collect(maps.Values(heldEdges)), true) {
			report.Summary, report.NeededBy = dependencyv1alpha1.ReportSummary{}, nil // they count held edges
			for i := range report.Edges {
				report.Edges[i].RootCauses = nil // they pass through held edges
			}
		}
	}
	if !equality.Semantic.DeepEqual(report, plugin) { // an emptied list equals no list
		differ = append(differ, fmt.Sprintf("%s: stored (-) and printed (+): %s", cluster, cmp.Diff(report, plugin)))
	}
	return differ
}
