package factreport

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/agent/leases"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
)

type (
	api        = dependencyv1alpha1.API
	apiRequest = dependencyv1alpha1.APIRequest
	addOn      = dependencyv1alpha1.AddOn
	apiFacts   = dependencyv1alpha1.APIFact
	addOnInfo  = dependencyv1alpha1.AddOnFact
	status     = dependencyv1alpha1.ManagedClusterFactsStatus
)

var (
	thing   = api{Group: "a.io", Kind: "Thing"}
	thingV2 = api{Group: "a.io", Version: "v2", Kind: "Thing"}
	proxy   = addOn{Name: "proxy"}
)

func TestAPIFact(t *testing.T) {
	tests := []struct {
		name      string
		requested api
		group     apidiscovery.Group
		want      apiFacts
		unknown   bool
	}{
		{name: "nothing is known yet", requested: thing, unknown: true, want: apiFacts{API: thing}},
		{
			name: "not served", requested: thing, group: apidiscovery.Group{Discovered: true},
			want: apiFacts{API: thing, Served: metav1.ConditionFalse},
		},
		{
			name: "any version", requested: thing, group: apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}},
			want: apiFacts{API: thing, Served: metav1.ConditionTrue, Versions: []string{"v1"}},
		},
		{
			name: "the version", requested: thingV2, group: apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1", "v2"}}},
			want: apiFacts{API: thingV2, Served: metav1.ConditionTrue, Versions: []string{"v1", "v2"}},
		},
		{
			name: "other versions", requested: thingV2, group: apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}},
			want: apiFacts{API: thingV2, Served: metav1.ConditionFalse, Versions: []string{"v1"}},
		},
		{
			name: "another kind", requested: thing, group: apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Other": {"v1"}}},
			want: apiFacts{API: thing, Served: metav1.ConditionFalse},
		},
		{
			name: "a version that fails, of any", requested: thing,
			group: apidiscovery.Group{Discovered: true, Failures: map[string]string{"v2": "503 ServiceUnavailable", "v1": "no response within 10s"}},
			want: apiFacts{
				API: thing, Served: metav1.ConditionUnknown, Reason: dependencyv1alpha1.ReasonDiscoveryFailed,
				Message: "discovery of a.io/v1 failed: no response within 10s; discovery of a.io/v2 failed: 503 ServiceUnavailable",
			},
		},
		{
			name: "a version that fails, and one that serves it", requested: thing,
			group: apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}, Failures: map[string]string{"v2": "503"}},
			want:  apiFacts{API: thing, Served: metav1.ConditionTrue, Versions: []string{"v1"}},
		},
		{
			name: "another version than the one that fails", requested: thingV2,
			group: apidiscovery.Group{Discovered: true, Failures: map[string]string{"v1": "503"}},
			want:  apiFacts{API: thingV2, Served: metav1.ConditionFalse},
		},
		{
			name: "no right", requested: thing, group: apidiscovery.Group{Discovered: true, Forbidden: "addon-agent may not"},
			want: apiFacts{API: thing, Served: metav1.ConditionUnknown, Reason: dependencyv1alpha1.ReasonForbidden, Message: "addon-agent may not"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.group.Fact(apiRequest{API: tt.requested})
			if ok == tt.unknown {
				t.Errorf("known: %t", ok)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMoreVersionsThanFactCanHave(t *testing.T) {
	versions := make([]string, 100)
	for i := range versions {
		versions[i] = "v" + strings.Repeat("1", i+1)
	}
	last := api{Group: "a.io", Version: versions[99], Kind: "Thing"}
	got, _ := apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": versions}}.Fact(apiRequest{API: last})
	if got.Served != metav1.ConditionTrue || len(got.Versions) != dependencyv1alpha1.MaxVersions {
		t.Errorf("%s with %d versions", got.Served, len(got.Versions))
	}
}

func TestAddOnFact(t *testing.T) {
	reports := func(version string) leases.Version {
		return leases.Version{State: availability.LeaseFound, Reported: version}
	}
	tests := []struct {
		name    string
		version leases.Version
		absent  bool
		want    addOnInfo
		unknown bool
	}{
		{name: "not installed", absent: true, want: addOnInfo{Reason: dependencyv1alpha1.ReasonNotInstalled}},
		{name: "nothing is known yet", unknown: true},
		{
			name:    "no lease",
			version: leases.Version{State: availability.LeaseNotFound},
			want:    addOnInfo{Reason: dependencyv1alpha1.ReasonLeaseNotFound},
		},
		{name: "not reported", version: reports(""), want: addOnInfo{Reason: dependencyv1alpha1.ReasonVersionNotReported}},
		{name: "reported", version: reports("v1.2.3-beta.1+build"), want: addOnInfo{Version: "v1.2.3-beta.1+build"}},
		{
			name: "reported under the former key", version: leases.Version{State: availability.LeaseFound, Reported: "1.2.3", Former: true},
			want: addOnInfo{Version: "1.2.3", FormerAnnotation: true},
		},
		{name: "no semantic version, which the hub judges", version: reports("latest"), want: addOnInfo{Version: "latest"}},
		{name: "too long", version: reports(strings.Repeat("1", 129)), want: addOnInfo{Reason: dependencyv1alpha1.ReasonVersionUnusable}},
		{name: "of several lines", version: reports("1.0\n2.0"), want: addOnInfo{Reason: dependencyv1alpha1.ReasonVersionUnusable}},
		{name: "no text", version: reports("\xff\xfe"), want: addOnInfo{Reason: dependencyv1alpha1.ReasonVersionUnusable}},
		{name: "blank", version: reports(" "), want: addOnInfo{Reason: dependencyv1alpha1.ReasonVersionUnusable}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := addOnFact(proxy, tt.version, !tt.absent)
			if ok == tt.unknown {
				t.Errorf("known: %t", ok)
			}
			if got.Version != tt.want.Version || got.FormerAnnotation != tt.want.FormerAnnotation || got.Reason != tt.want.Reason {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if (got.Message == "") != (got.Reason == "") || len(got.Message) > dependencyv1alpha1.MaxMessageLength {
				t.Errorf("reason %q with message %q", got.Reason, got.Message)
			}
		})
	}
}

func TestReport(t *testing.T) {
	knownFacts := observation{
		groups:   map[string]apidiscovery.Group{"a.io": {Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}}},
		versions: map[string]leases.Version{"proxy": {}},
	}
	unreachable := api{Group: "away.io", Kind: "Other"}
	served := apiFacts{API: thing, Served: metav1.ConditionTrue, Versions: []string{"v1"}}
	reported := apiFacts{API: unreachable, Served: metav1.ConditionTrue, Versions: []string{"v7"}}
	info := addOnInfo{AddOn: proxy, Version: "1.0.0"}
	tests := []struct {
		name      string
		requested dependencyv1alpha1.ManagedClusterFactsSpec
		stored    status
		want      status
		complete  bool
	}{
		{name: "nothing is requested", complete: true, want: status{ObservedGeneration: 3}},
		{
			name: "all is known", requested: dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}}}, complete: true,
			stored: status{ObservedGeneration: 2, VersionsKnown: "nonsense", APIs: []apiFacts{reported}, AddOns: []addOnInfo{info}},
			want:   status{ObservedGeneration: 3, APIsServed: "1/1", APIs: []apiFacts{served}},
		},
		{
			name:      "not all is known yet",
			requested: dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}, {API: unreachable}}, AddOns: []addOn{proxy}},
			want:      status{APIsServed: "1/2", VersionsKnown: "0/1", APIs: []apiFacts{served}},
		},
		{
			name:      "nothing is known any more, but was",
			requested: dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: unreachable}}, AddOns: []addOn{proxy}},
			stored:    status{ObservedGeneration: 3, APIsServed: "1/1", VersionsKnown: "1/1", APIs: []apiFacts{reported}, AddOns: []addOnInfo{info}},
			want:      status{ObservedGeneration: 3, APIsServed: "1/1", VersionsKnown: "1/1", APIs: []apiFacts{reported}, AddOns: []addOnInfo{info}},
		},
		{
			name:      "a report on a generation that there is not yet",
			requested: dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: unreachable}}},
			stored:    status{ObservedGeneration: 99, APIs: []apiFacts{reported}},
			want:      status{ObservedGeneration: 3, APIsServed: "1/1", APIs: []apiFacts{reported}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Generation: 3}, Spec: tt.requested, Status: tt.stored}
			got, complete := report(facts, knownFacts)
			if complete != tt.complete {
				t.Errorf("complete: %t", complete)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
