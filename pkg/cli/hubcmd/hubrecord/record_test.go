package hubrecord

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestRecordIsReadAsItWasWritten(t *testing.T) {
	set := Set(fake.NewClientBuilder().Build(), "interlock-system")
	if record, err := Read(t.Context(), set); record != nil || err != nil {
		t.Fatalf("%+v, %v", record, err)
	}
	written := &Record{
		State: Applying, Version: "0.1.0", Chart: []byte("chart"), Values: map[string]any{"agent": map[string]any{"install": true}},
		Registry: "registry.test/team", Tag: "abc", Kinds: []schema.GroupKind{{Group: "apps", Kind: "Deployment"}},
	}
	for _, state := range []State{Applying, Installed} {
		written.State = state
		if err := written.Write(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		if record, err := Read(t.Context(), set); err != nil || !reflect.DeepEqual(record, written) {
			t.Errorf("%+v, want %+v, %v", record, written, err)
		}
	}
}

func TestUnreadableValuesAreAnError(t *testing.T) {
	set := Set(fake.NewClientBuilder().Build(), "interlock-system")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "interlock-system", Name: Name,
			Labels:      map[string]string{"applyset.kubernetes.io/id": set.ID()},
			Annotations: map[string]string{"applyset.kubernetes.io/tooling": "kubectl-addon/v1"},
		},
		Data: map[string][]byte{valuesKey: []byte("a: [")},
	}
	set.Client = fake.NewClientBuilder().WithObjects(secret).Build()
	if record, err := Read(t.Context(), set); err == nil {
		t.Errorf("%+v", record)
	}
}

func TestRenderValues(t *testing.T) {
	for name, test := range map[string]struct {
		record Record
		prefix string
		want   map[string]any
	}{
		"nothing": {Record{}, "", map[string]any{}},
		"a registry": {
			Record{}, "registry.test/interlock-", map[string]any{"images": map[string]any{"prefix": "registry.test/interlock-"}},
		},
		"a built tag": {Record{Tag: "abc"}, "p-", map[string]any{"images": map[string]any{"prefix": "p-", "tag": "abc"}}},
		"other values": {
			Record{Values: map[string]any{"images": map[string]any{"pullPolicy": "Never"}}},
			"p-",
			map[string]any{"images": map[string]any{"prefix": "p-", "pullPolicy": "Never"}},
		},
	} {
		before := len(test.record.Values)
		if got := test.record.RenderValues(test.prefix); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if images, _ := test.record.Values["images"].(map[string]any); images["prefix"] != nil || len(test.record.Values) != before {
			t.Errorf("%s: the values of the user were changed: %v", name, test.record.Values)
		}
	}
}
