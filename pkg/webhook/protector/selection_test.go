package protector

import (
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// inTier returns a Placement that selects clusters of a tier, or all clusters.
func inTier(name, tier string) *clusterv1beta1.Placement {
	selects := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if tier != "" {
		selects.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}},
		}}}
	}
	return selects
}

// tiered returns an available managed cluster of a tier.
func tiered(name, tier string) *clusterv1.ManagedCluster {
	cluster := joined(name)
	cluster.Labels = map[string]string{"tier": tier}
	return cluster
}

// fleetOfTiers returns a hub with cluster c1 of tier edge and c2 of tier core. Both have base and leaf, and the Placement selects both.
func fleetOfTiers(placement *clusterv1beta1.Placement, registered ...client.Object) []client.Object {
	decision := selecting(placement.Name, "c1", "c2")[1]
	objects := slices.Concat(registered, []client.Object{placement, decision, tiered("c1", "edge"), tiered("c2", "core")})
	for _, cluster := range []string{"c1", "c2"} {
		for _, name := range []string{"base", "leaf"} {
			objects = append(objects, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}})
		}
	}
	return objects
}

func TestReviewOfSelections(t *testing.T) {
	base, leaf := fixture.Registration("base"), fixture.Registration("leaf", fixture.Required("base"))
	const warns = "Placement 'default/all' no longer selects all clusters on which it installs add-ons, which " +
		"would break 1 add-on on 1 cluster: leaf requires base (c2)"
	otherPlacement := selecting("other", "c2")
	for name, test := range map[string]struct {
		updated    *clusterv1beta1.Placement
		registered []client.Object
		mode       dependencyv1alpha1.Protection
		fails      failing
		warns      string
	}{
		"FewerClusters": {updated: inTier("all", "edge"), registered: []client.Object{placed(base, "all"), &leaf}, warns: warns},
		"FewerButNotRefused": {
			updated: inTier("all", "edge"), registered: []client.Object{placed(base, "all"), &leaf},
			mode: dependencyv1alpha1.ProtectionEnforce, warns: warns,
		},
		"ProtectionIsOff": {
			updated: inTier("all", "edge"), registered: []client.Object{placed(base, "all"), &leaf},
			mode: dependencyv1alpha1.ProtectionOff,
		},
		"TheSame": {
			updated: inTier("all", ""), registered: []client.Object{placed(base, "all"), &leaf},
			fails: failing{list: "clusters"},
		},
		"SelectedByAnother": {updated: inTier("all", "edge"), registered: append(otherPlacement, placed(base, "all", "other"), &leaf)},
		"OfNoAddOn":         {updated: inTier("all", "edge"), registered: []client.Object{&base, &leaf}, fails: failing{list: "clusters"}},
		"NothingDepends":    {updated: inTier("all", "edge"), registered: []client.Object{placed(base, "all")}, fails: failing{list: "clusters"}},
		"ClustersFail": {
			updated: inTier("all", "edge"), registered: []client.Object{placed(base, "all"), &leaf}, fails: failing{list: "clusters"},
			warns: "whether add-ons require what Placement 'all' installs was not checked: list managed clusters: the hub is busy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := admissionv1.AdmissionRequest{
				Operation: admissionv1.Update, Name: "all", Resource: metav1.GroupVersionResource{Resource: "placements"},
			}
			request.OldObject.Raw, request.Object.Raw = raw(t, inTier("all", "")), raw(t, test.updated)
			mode := test.mode
			if mode == "" {
				mode = dependencyv1alpha1.ProtectionWarn
			}
			response, _ := handleRequest(t, mode, test.fails, request, "all", fleetOfTiers(inTier("all", ""), test.registered...)...)
			expect(t, response, "", test.warns)
		})
	}
}

func TestReviewOfLabels(t *testing.T) {
	base, leaf := fixture.Registration("base"), fixture.Registration("leaf", fixture.Required("base"))
	const warns = "with these labels, Placements no longer select cluster 'c1', which would break 1 add-on on 1 cluster: leaf requires " +
		"base (c1)"
	for name, test := range map[string]struct {
		tier       string
		registered []client.Object
		placement  *clusterv1beta1.Placement
		fails      failing
		warns      string
	}{
		"NoLongerSelected": {
			tier: "core", registered: []client.Object{placed(base, "all"), &leaf}, placement: inTier("all", "edge"),
			warns: warns,
		},
		"StillSelected": {tier: "core", registered: []client.Object{placed(base, "all"), &leaf}, placement: inTier("all", "")},
		"SameLabels": {
			tier: "edge", registered: []client.Object{placed(base, "all"), &leaf}, placement: inTier("all", "edge"),
			fails: failing{list: "registrations"},
		},
		"SelectedByAnother": {
			tier: "core", registered: []client.Object{placed(base, "all", "other"), &leaf, inTier("other", "core")},
			placement: inTier("all", "edge"),
		},
		"PlacementIsGone": {tier: "core", registered: []client.Object{placed(base, "gone"), &leaf}, placement: inTier("all", "edge")},
		"NothingDepends":  {tier: "core", registered: []client.Object{placed(base, "all")}, placement: inTier("all", "edge")},
	} {
		t.Run(name, func(t *testing.T) {
			request := admissionv1.AdmissionRequest{
				Operation: admissionv1.Update, Name: "c1", Resource: metav1.GroupVersionResource{Resource: "managedclusters"},
			}
			request.OldObject.Raw, request.Object.Raw = raw(t, tiered("c1", "edge")), raw(t, tiered("c1", test.tier))
			response, _ := handleRequest(t, dependencyv1alpha1.ProtectionEnforce, test.fails, request, "c1", fleetOfTiers(test.placement,
				test.registered...)...)
			expect(t, response, "", test.warns)
		})
	}
}

// TestStrategyWithANewPlacement changes an add-on that was installed by hand: OCM then deletes it on clusters that no Placement selects.
func TestStrategyWithANewPlacement(t *testing.T) {
	base, leaf := fixture.Registration("base"), fixture.Registration("leaf", fixture.Required("base"))
	for name, test := range map[string]struct {
		tier    string
		refuses string
	}{
		"SelectsAll": {"", ""},
		"SelectsFewer": {
			"edge", "the new install strategy of add-on 'base' would break 1 add-on on 1 cluster: leaf requires base (c2). Remove first what " +
				"requires it. To remove it nevertheless: kubectl annotate clustermanagementaddon base " +
				"dependency.addon.open-cluster-management.io/force='<why>'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := admissionv1.AdmissionRequest{
				Operation: admissionv1.Update, Name: "base", Resource: metav1.GroupVersionResource{Resource: "clustermanagementaddons"},
			}
			request.OldObject.Raw, request.Object.Raw = raw(t, placed(base)), raw(t, placed(*base.DeepCopy(), "new"))
			objects := append(fleetOfTiers(inTier("all", ""), placed(*base.DeepCopy()), &leaf), inTier("new", test.tier))
			response, _ := handleRequest(t, dependencyv1alpha1.ProtectionEnforce, failing{}, request, "base", objects...)
			expect(t, response, test.refuses, "")
		})
	}
}
