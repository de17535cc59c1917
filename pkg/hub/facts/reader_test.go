package facts

import (
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

func TestFacts(t *testing.T) {
	reported := status{
		APIs:   []dependencyv1alpha1.APIFact{servedFact(metav1.ConditionTrue)},
		AddOns: []dependencyv1alpha1.AddOnFact{versionFact("1.0.0")},
	}
	tests := []struct {
		name      string
		prepare   func(*bench)
		requested time.Time
		served    metav1.ConditionStatus
		version   string
		says      string
	}{
		{name: "reported", prepare: func(b *bench) { b.reports(reported) }, served: metav1.ConditionTrue, version: "1.0.0"},
		{name: "requested and not reported", prepare: func(b *bench) { b.reports(status{ObservedGeneration: 1}) }, requested: aTime},
		{
			name: "never answered, and more was requested since", prepare: func(b *bench) { b.reports(status{}) },
			requested: aTime.Add(-time.Hour),
		},
		{
			name: "half reported", prepare: func(b *bench) { b.reports(status{APIs: reported.APIs}) },
			requested: aTime, served: metav1.ConditionTrue,
		},
		{name: "not requested yet", prepare: func(*bench) {}, requested: aTime.Add(time.Minute)},
		{
			name: "something else is requested yet", prepare: func(b *bench) { b.reports(status{ObservedGeneration: 1}); b.object.Spec.APIs = nil },
			requested: aTime.Add(time.Minute),
		},
		{
			name: "never answered, and something else is requested yet", prepare: func(b *bench) { b.reports(status{}); b.object.Spec.APIs = nil },
			requested: aTime.Add(-time.Hour),
		},
		{
			name:      "a hub that has not responded",
			prepare:   func(b *bench) { b.state = Unknown },
			requested: aTime.Add(time.Minute),
		},
		{
			name: "a hub without the CRD", prepare: func(b *bench) { b.state = Absent },
			served: metav1.ConditionUnknown, says: dependencyv1alpha1.CRDName,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.clock.Step(time.Minute)
			tt.prepare(b)
			got := b.facts(t)
			b.clock.Step(time.Minute)
			if repeated := b.facts(t); !repeated.Requested.Equal(got.Requested) {
				t.Errorf("waits anew each time: %s, then %s", got.Requested, repeated.Requested)
			}
			if !got.Requested.Equal(tt.requested) {
				t.Errorf("requested at %s, want %s", got.Requested, tt.requested)
			}
			if api := got.APIs[widgets]; api.Served != tt.served || !strings.Contains(api.Message, tt.says) {
				t.Errorf("API: %+v", api)
			}
			if version := got.Versions["base"]; version.Version != tt.version || !strings.Contains(version.Message, tt.says) {
				t.Errorf("version: %+v", version)
			}
		})
	}
}

func TestMoreThanAnObjectHolds(t *testing.T) {
	var needed needs
	for i := range 2 * dependencyv1alpha1.MaxRequests {
		needed.APIs = append(needed.APIs, dependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: "a.io", Kind: "K" + strconv.Itoa(i)}})
		needed.AddOns = append(needed.AddOns, "addon-"+strconv.Itoa(i))
	}
	spec := specOf(needed)
	if len(spec.APIs) != dependencyv1alpha1.MaxRequests || len(spec.AddOns) != dependencyv1alpha1.MaxRequests {
		t.Fatalf("requests %d APIs and %d add-ons: rejected as a whole", len(spec.APIs), len(spec.AddOns))
	}
	b := newBench(t)
	b.reports(status{})
	b.object.Spec = spec
	got, err := b.reader.agents().Facts(t.Context(), cluster, fleet.Reported{Object: b.object, Needed: needed})
	if err != nil {
		t.Fatal(err)
	}
	last := needed.APIs[len(needed.APIs)-1].AddonAPI
	if !strings.Contains(got.APIs[last].Message, "at most 512 APIs") ||
		!strings.Contains(got.Versions["addon-1023"].Message, "at most 512 add-ons") {
		t.Errorf("does not say why nobody answers: %+v", got.APIs[last])
	}
	if _, answered := got.APIs[needed.APIs[0].AddonAPI]; answered {
		t.Error("has what is requested and not reported")
	}
}

func TestNamesThatNoObjectCanHave(t *testing.T) {
	long := strings.Repeat("a", 300)
	got := specOf(fleet.Requestable(needs{AddOns: []string{long, "base"}}))
	if len(got.AddOns) != 1 || got.AddOns[0].Name != "base" {
		t.Errorf("requests %v: rejected as a whole", got.AddOns)
	}
}

func TestNothingIsNeeded(t *testing.T) {
	b := newBench(t)
	if got, err := b.reader.agents().Facts(t.Context(), cluster, fleet.Reported{}); err != nil || !got.Requested.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLean(t *testing.T) {
	now := metav1.NewTime(aTime)
	full := &facts{ObjectMeta: metav1.ObjectMeta{
		Name: cluster, Annotations: map[string]string{"large": "thing"},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: names.AddonManager, Time: &now, FieldsV1: &metav1.FieldsV1{Raw: []byte("{}")}},
			{Manager: "interlock-addon-agent", Subresource: "status"},
		},
	}, Status: status{ObservedGeneration: 1}}
	got := lean(full)
	if len(got.Annotations) > 0 || len(got.ManagedFields) != 1 || got.ManagedFields[0].FieldsV1 != nil {
		t.Errorf("keeps too much: %+v", got.ObjectMeta)
	}
	if !fleet.RequestedAt(got).Equal(aTime) {
		t.Errorf("requested at %s", fleet.RequestedAt(got))
	}
}

func TestTheFormerKeyOfALeaseIsKept(t *testing.T) {
	factsWith := func(fact dependencyv1alpha1.AddOnFact) evaluation.Facts {
		fact.Name = "base"
		return fleet.FactsOf(&facts{Status: status{AddOns: []dependencyv1alpha1.AddOnFact{fact}}})
	}
	former, current := factsWith(
		dependencyv1alpha1.AddOnFact{Version: "1.0.0", FormerAnnotation: true},
	), factsWith(
		dependencyv1alpha1.AddOnFact{Version: "1.0.0"},
	)
	if !differ(former, current, needs{AddOns: []string{"base"}}) {
		t.Error("a version that moves to the new key does not count as a change")
	}
	if want := (evaluation.VersionFact{Version: "1.0.0", Former: true}); former.Versions["base"] != want {
		t.Errorf("%+v, want %+v", former.Versions["base"], want)
	}
}

func TestOnlyNeededFactsDiffer(t *testing.T) {
	otherAPI := addonv1alpha1.AddonAPI{Group: "b.io", Kind: "Other"}
	served := evaluation.Facts{APIs: evaluation.APIFacts{widgets: {Served: "True", Versions: []string{"v1"}}}}
	for name, test := range map[string]struct {
		current evaluation.Facts
		needed  needs
		want    bool
	}{
		"Same": {
			evaluation.Facts{APIs: evaluation.APIFacts{widgets: {Served: "True", Versions: []string{"v1"}}}},
			needs{APIs: []dependencyAPI{{AddonAPI: widgets}}},
			false,
		},
		"OtherVersion": {
			evaluation.Facts{APIs: evaluation.APIFacts{widgets: {Served: "True", Versions: []string{"v2"}}}},
			needs{APIs: []dependencyAPI{{AddonAPI: widgets}}},
			true,
		},
		"Gone":        {evaluation.Facts{}, needs{APIs: []dependencyAPI{{AddonAPI: widgets}}}, true},
		"NotNeeded":   {evaluation.Facts{}, needs{APIs: []dependencyAPI{{AddonAPI: otherAPI}}}, false},
		"EmptyReport": {evaluation.Facts{Versions: map[string]evaluation.VersionFact{"base": {}}}, needs{AddOns: []string{"base"}}, true},
	} {
		if got := differ(served, test.current, test.needed); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
