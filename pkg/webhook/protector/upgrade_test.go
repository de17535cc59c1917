package protector

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	operatorv1 "open-cluster-management.io/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

// clusterManager returns a ClusterManager with images of one tag or digest.
func clusterManager(tag string) *operatorv1.ClusterManager {
	const repository = "quay.io/open-cluster-management/"
	manager := &operatorv1.ClusterManager{
		TypeMeta:   metav1.TypeMeta{APIVersion: "operator.open-cluster-management.io/v1", Kind: "ClusterManager"},
		ObjectMeta: metav1.ObjectMeta{Name: "cluster-manager", UID: "uid"},
	}
	manager.Spec.RegistrationImagePullSpec, manager.Spec.WorkImagePullSpec = repository+"registration"+tag, repository+"work"+tag
	manager.Spec.PlacementImagePullSpec, manager.Spec.AddOnManagerImagePullSpec = repository+"placement"+tag, repository+"addon-manager"+tag
	return manager
}

// TestReviewOfUpgrades changes the images. leaf and base are on c1, c2 and c3.
func TestReviewOfUpgrades(t *testing.T) {
	const (
		advice = ". To change it nevertheless, give it the annotation dependency.addon.open-cluster-management.io/force: '<why>'"
		breaks = "Open Cluster Management 1.3.1 would break 1 add-on on 3 clusters: " +
			"leaf requires Open Cluster Management version of the hub '< 1.3' (c1, c2 and 1 more)"
		needsOld = `requirements: {ocm: "< 1.3"}`
	)
	forced := clusterManager(":v1.3.1")
	forced.Annotations = map[string]string{addonv1alpha1.ForceAnnotation: "tried"}
	unread := func(because string) string {
		return "whether another version of Open Cluster Management contradicts 1 add-on ('leaf') was not checked: " + because +
			". kubectl addon impact --ocm VERSION checks one"
	}
	const allFields = "addOnManagerImagePullSpec, placementImagePullSpec, registrationImagePullSpec, workImagePullSpec"
	digest := clusterManager(":v1.2.0")
	digest.Spec.RegistrationImagePullSpec = "example.com:5000/registration@sha256:5f70"
	mixed := clusterManager(":v1.3.1")
	mixed.Spec.WorkImagePullSpec = "work:v1.2.9"
	staged := clusterManager(":v1.2.0")
	staged.Spec.RegistrationImagePullSpec = "example.com:5000/registration:v1.3.1"
	for _, test := range []struct {
		name, leaf, base string
		crd              string
		old, updated     *operatorv1.ClusterManager
		objects          []client.Object
		user             string
		groups           []string
		fails            failing
		refuses, warns   string
		emits            string
	}{
		{name: "that is too new", leaf: needsOld, updated: clusterManager(":v1.3.1"), refuses: breaks + advice},
		{name: "of one component", leaf: needsOld, updated: staged, refuses: breaks + advice},
		{name: "that is accepted", leaf: needsOld, updated: clusterManager(":v1.2.5")},
		{name: "by digest", leaf: needsOld, updated: digest, warns: unread("no tag that is a version in registrationImagePullSpec")},
		{name: "by digests", leaf: needsOld, updated: clusterManager("@sha256:5f70"), warns: unread("no tag that is a version in " + allFields)},
		{name: "by digest before and after", leaf: needsOld, old: digest, updated: digest},
		{name: "by digest, which nothing requires", leaf: "dependencies: [{name: base}]", updated: digest},
		{
			name: "by digest, where add-ons cannot be listed", leaf: needsOld, updated: digest, fails: failing{list: "metadata"},
			warns: "whether add-ons contradict another version of Open Cluster Management was not checked: " +
				"list add-on leaf of the fleet: the hub is busy",
		},
		{name: "by tag and digest", leaf: needsOld, updated: clusterManager(":v1.3.1@sha256:5f70"), refuses: breaks + advice},
		{name: "by another tag", leaf: needsOld, updated: clusterManager(":latest"), warns: unread("no tag that is a version in " + allFields)},
		{name: "of several versions", leaf: needsOld, updated: mixed, warns: unread("images have several versions: 1.2.9, 1.3.1")},
		{
			name: "that nothing requires", leaf: "dependencies: [{name: base}]", updated: clusterManager(":v1.3.1"),
			fails: failing{list: "add-ons"},
		},
		{name: "that was too new", leaf: `requirements: {ocm: "< 1.1"}`, updated: clusterManager(":v1.3.1")},
		{name: "that was too new by its images", leaf: needsOld, old: clusterManager(":v1.3.0"), updated: clusterManager(":v1.3.1")},
		{
			name: "where that of the hub is not known", leaf: needsOld, crd: "-",
			old: clusterManager(""), updated: clusterManager(":v1.3.1"), refuses: breaks + advice,
		},
		{
			name: "which an add-on has", leaf: `dependencies: [{name: base, version: "< 1.3"}]`, base: "@ocm", updated: clusterManager(":v1.3.1"),
			refuses: "Open Cluster Management 1.3.1 would break 1 add-on on 3 clusters: " +
				"leaf requires base in version '< 1.3' (c1, c2 and 1 more)" + advice,
		},
		{
			name: "which an add-on does not have", leaf: `dependencies: [{name: base, version: "< 1.3"}]`, base: "1.0",
			updated: clusterManager(":v1.3.1"),
		},
		{
			name: "which an add-on has, where an agent has reported nothing", leaf: `dependencies: [{name: base, version: "< 1.3"}]`, base: "@ocm",
			updated: clusterManager(":v1.3.1"), objects: []client.Object{installedOn("c1", addOn("interlock-agent"))},
			refuses: "Open Cluster Management 1.3.1 would break 1 add-on on 3 clusters: leaf requires base in version '< 1.3' (c1, c2 and 1 more)" +
				advice,
		},
		{
			name: "with a reason", leaf: needsOld, updated: forced, user: "alice", warns: breaks + ". It is changed nevertheless: tried",
			emits: "Warning ChangeForced alice: " + breaks + ". It is changed nevertheless: tried",
		},
		{
			name: "by OCM", leaf: needsOld, updated: clusterManager(":v1.3.1"), user: "sa",
			groups: []string{"system:serviceaccounts:open-cluster-management"},
			warns:  breaks + ". OCM changes it nevertheless", emits: "Warning ChangeNotRefused sa: " + breaks + ". OCM changes it nevertheless",
		},
		{
			name: "where clusters cannot be read", leaf: needsOld, updated: clusterManager(":v1.3.1"), fails: failing{list: "clusters"},
			warns: "whether add-ons contradict another version of Open Cluster Management was not checked: list managed clusters: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			base := fixture.Registration("base")
			if test.base != "" {
				base = fixture.Versioned(base, test.base)
			}
			if test.old == nil {
				test.old = clusterManager(":v1.2.0")
			}
			crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: fleet.OCMVersionCRD}}
			if test.crd == "" {
				crd.Annotations = map[string]string{names.OCMVersion: "1.2.0"}
			}
			objects := append(threeClusters(&base, ptr.To(fixture.Specified(t, "leaf", test.leaf)), crd, test.old), test.objects...)
			request := admissionv1.AdmissionRequest{
				Operation: admissionv1.Update, Resource: metav1.GroupVersionResource{Resource: "clustermanagers"},
				UserInfo: authenticationv1.UserInfo{Username: test.user, Groups: test.groups},
			}
			request.OldObject.Raw, request.Object.Raw = raw(t, test.old), raw(t, test.updated)
			response, emitted := handleRequest(t, dependencyv1alpha1.ProtectionEnforce, test.fails, request, "", objects...)
			expect(t, response, test.refuses, test.warns)
			if got := strings.Join(emitted, "; "); got != test.emits {
				t.Errorf("emitted %q, want %q", got, test.emits)
			}
		})
	}
}
