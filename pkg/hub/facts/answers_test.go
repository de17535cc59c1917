package facts

import (
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsinformer"
)

func TestFacts(t *testing.T) {
	all := status{
		APIs:   []dependencyv1alpha1.APIFact{servedFact(metav1.ConditionTrue)},
		AddOns: []dependencyv1alpha1.AddOnFact{versionFact("1.0.0")},
	}
	tests := []struct {
		name    string
		prepare func(*bench)
		asked   time.Time
		served  metav1.ConditionStatus
		version string
		says    string
	}{
		{name: "answered", prepare: func(b *bench) { b.asks(all) }, served: metav1.ConditionTrue, version: "1.0.0"},
		{name: "asked and not answered", prepare: func(b *bench) { b.asks(status{}) }, asked: aTime},
		{
			name: "half answered", prepare: func(b *bench) { b.asks(status{APIs: all.APIs}) },
			asked: aTime, served: metav1.ConditionTrue,
		},
		{name: "not asked yet", prepare: func(*bench) {}, asked: aTime.Add(time.Minute)},
		{
			name: "asked something else yet", prepare: func(b *bench) { b.asks(status{}); b.object.Spec.APIs = nil },
			asked: aTime.Add(time.Minute),
		},
		{name: "a hub that has not answered", prepare: func(b *bench) { b.state = factsinformer.Unknown }, asked: aTime.Add(time.Minute)},
		{
			name: "a hub without the CRD", prepare: func(b *bench) { b.state = factsinformer.Absent },
			served: metav1.ConditionUnknown, says: dependencyv1alpha1.CRDName,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.clock.Step(time.Minute)
			tt.prepare(b)
			got := b.Facts(cluster)
			b.clock.Step(time.Minute)
			if again := b.Facts(cluster); !again.Asked.Equal(got.Asked) {
				t.Errorf("waits anew each time: %s, then %s", got.Asked, again.Asked)
			}
			if !got.Asked.Equal(tt.asked) {
				t.Errorf("asked at %s, want %s", got.Asked, tt.asked)
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

func TestMoreQuestionsThanAnObjectHolds(t *testing.T) {
	var all questions
	for i := range 2 * dependencyv1alpha1.MaxQuestions {
		all.APIs = append(all.APIs, addonv1alpha1.AddonAPI{Group: "a.io", Kind: "K" + strconv.Itoa(i)})
		all.AddOns = append(all.AddOns, "addon-"+strconv.Itoa(i))
	}
	spec := specOf(all)
	if len(spec.APIs) != dependencyv1alpha1.MaxQuestions || len(spec.AddOns) != dependencyv1alpha1.MaxQuestions {
		t.Fatalf("asks %d APIs and %d add-ons: refused as a whole", len(spec.APIs), len(spec.AddOns))
	}
	b := newBench(t)
	b.asks(status{})
	b.object.Spec = spec
	got := b.facts(cluster, b.object, signOfLife{}, all)
	last := all.APIs[len(all.APIs)-1]
	if !strings.Contains(got.APIs[last].Message, "at most 512 APIs") || !strings.Contains(got.Versions["addon-1023"].Message, "at most 512 add-ons") {
		t.Errorf("does not say why nobody answers: %+v", got.APIs[last])
	}
	if _, answered := got.APIs[all.APIs[0]]; answered {
		t.Error("answers what is asked and not answered")
	}
}

func TestNamesThatNoObjectCanHave(t *testing.T) {
	long := strings.Repeat("a", 300)
	got := specOf(askable(questions{AddOns: []string{long, "base"}}))
	if len(got.AddOns) != 1 || got.AddOns[0].Name != "base" {
		t.Errorf("asks %v: refused as a whole", got.AddOns)
	}
}

func TestNobodyAsks(t *testing.T) {
	b := newBench(t)
	if got := b.facts(cluster, nil, signOfLife{}, catalog.Requests{}); !got.Asked.IsZero() || len(b.waiting) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestLean(t *testing.T) {
	at := metav1.NewTime(aTime)
	full := &facts{ObjectMeta: metav1.ObjectMeta{
		Name: cluster, Annotations: map[string]string{"large": "thing"},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: FieldManager, Time: &at, FieldsV1: &metav1.FieldsV1{Raw: []byte("{}")}},
			{Manager: "interlock-addon-agent", Subresource: "status"},
		},
	}}
	got := lean(full)
	if len(got.Annotations) > 0 || len(got.ManagedFields) != 1 || got.ManagedFields[0].FieldsV1 != nil {
		t.Errorf("keeps too much: %+v", got.ObjectMeta)
	}
	if !askedAt(got).Equal(aTime) {
		t.Errorf("asked at %s", askedAt(got))
	}
}

func TestTheFormerKeyOfALeaseIsKept(t *testing.T) {
	former, current := dependencyv1alpha1.AddOnFact{Version: "1.0.0", FormerAnnotation: true}, dependencyv1alpha1.AddOnFact{Version: "1.0.0"}
	if sameAddOn(&former, &current) {
		t.Error("a version that moves to the new key does not count as a change")
	}
	got := factsOf(answers{addOns: map[string]*dependencyv1alpha1.AddOnFact{"base": &former}}, questions{AddOns: []string{"base"}})
	if want := (evaluation.VersionFact{Version: "1.0.0", Former: true}); got.Versions["base"] != want {
		t.Errorf("%+v, want %+v", got.Versions["base"], want)
	}
}
