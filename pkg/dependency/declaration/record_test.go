package declaration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// written returns a declaration by field and, if there is a third argument, by
// annotation. An annotation that starts with "record:" is a record without edits.
func written(t *testing.T, spec string, annotation ...string) *Written {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		t.Fatal(err)
	}
	var annotations map[string]string
	for _, text := range annotation {
		annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: text}
		if text, recorded := strings.CutPrefix(text, "record:"); recorded {
			annotations = written(t, "").with(text, digest(text))
		}
	}
	w := WrittenOf(annotations, fields)
	return &w
}

const (
	a     = `dependencies: [{name: a, type: Required}]`
	aOf   = `record:{"dependencies":[{"name":"a","type":"Required"}]}`
	aWhen = `dependencies: [{name: a, type: Required, when: {expression: "1 < 2"}}]`
	ofAll = `record:{"dependencies":[{"name":"a","type":"Required","when":{"expression":"1 < 2"}}]}`
	// newer has a property that this version does not know.
	newer = `record:{"dependencies":[{"name":"a","type":"Required","later":true}]}`
	// newerOptional is that after an edit with this version.
	newerOptional  = `record:{"dependencies":[{"later":true,"name":"a","type":"Optional"}]}`
	ofOrdered      = `record:{"dependencies":[{"name":"a","type":"Required"}],"ordering":"Install"}`
	optional       = `dependencies: [{name: a, type: Optional}]`
	aAndOCM        = `record:{"dependencies":[{"name":"a","type":"Required"}],"requirements":{"ocm":"*"}}`
	bAndOCM        = `record:{"dependencies":[{"name":"b"}],"requirements":{"ocm":"*"}}`
	ofOptional     = `record:{"dependencies":[{"name":"a","type":"Optional"}]}`
	platform       = "requirements: {ocm: '*'}\nprovides: [{kind: Pod}]"
	ofPlatform     = `record:{"provides":[{"kind":"Pod"}],"requirements":{"ocm":"*"}}`
	bAndOptional   = `dependencies: [{name: b}, {name: a, type: Optional}]`
	ofBAndOptional = `record:{"dependencies":[{"name":"b"},{"name":"a","type":"Optional"}]}`
	ofBAndWhen     = `record:{"dependencies":[{"name":"b"},{"name":"a","type":"Optional","when":{"expression":"1 < 2"}}]}`
	ofB            = `record:{"dependencies":[{"name":"b"}]}`
	// newerProvided has properties that this version does not know, of APIs.
	provided      = `provides: [{group: g, kind: A}, {group: g, kind: B}]`
	newerProvided = `record:{"provides":[{"group":"g","kind":"A","later":1},{"group":"g","kind":"B","later":2}]}`
	newerAndA     = `record:{"dependencies":[{"name":"a","type":"Required"}],` +
		`"provides":[{"group":"g","kind":"A","later":1},{"group":"g","kind":"B","later":2}]}`
	onAPI            = `dependencies: [{name: w, type: Required, api: {kind: A}}]`
	newerOnAPI       = `record:{"dependencies":[{"api":{"kind":"A","later":1},"name":"w","type":"Required"}]}`
	twice            = `dependencies: [{name: a, type: Required}, {name: a, type: Optional}]`
	newerTwice       = `record:{"dependencies":[{"later":1,"name":"a","type":"Required"},{"later":2,"name":"a","type":"Optional"}]}`
	platformOnly     = `requirements: {ocm: '*'}`
	newerTwiceAndOCM = `record:{"dependencies":[{"later":1,"name":"a","type":"Required"},{"later":2,"name":"a","type":"Optional"}],` +
		`"requirements":{"ocm":"*"}}`
	onLabels = `dependencies: [{name: a, type: Required, when: {clusterSelector: {matchExpressions: ` +
		`[{key: k, operator: In, values: [v]}]}}}]`
	newerOnLabels = `record:{"dependencies":[{"name":"a","type":"Required",` +
		`"when":{"clusterSelector":{"matchExpressions":[{"key":"k","later":1,"operator":"In","values":["v"]}]}}}]}`
	onOtherLabels = `dependencies: [{name: a, type: Required, when: {clusterSelector: {matchExpressions: ` +
		`[{key: j, operator: Exists}, {key: k, operator: In, values: [w]}]}}}]`
	newerOnOtherLabels = `record:{"dependencies":[{"name":"a","type":"Required","when":{"clusterSelector":{"matchExpressions":[` +
		`{"key":"j","operator":"Exists"},{"key":"k","later":1,"operator":"In","values":["w"]}]}}}]}`
	signs   = `dependencies: [{name: a, type: Required, message: "&x *x"}]`
	ofSigns = `record:{"dependencies":[{"name":"a","type":"Required","message":"&x *x"}]}`
)

func TestKeep(t *testing.T) {
	cases := map[string]struct {
		reason          string
		stored, updated *Written
		unmeant         bool
		want            string // the annotation, in the form for written; it is empty if there is none
	}{
		"Created":   {"the record is made with the first write", nil, written(t, a), false, aOf},
		"Readable":  {"signs are not escaped", nil, written(t, aWhen), false, ofAll},
		"AllFields": {"each field is recorded", nil, written(t, platform), false, ofPlatform},
		"Ordered": {
			"so is what waits", nil, written(t, a+"\nordering: Install"), false,
			`record:{"dependencies":[{"name":"a","type":"Required"}],"ordering":"Install"}`,
		},
		"OrderedByDefault": {"the default of ordering declares nothing", nil, written(t, "ordering: None"), false, ""},
		"OrderingUnseen": {
			"a writer that does not know the field", written(t, a+"\nordering: Install", ofOrdered), written(t, a, ofOrdered), true, ofOrdered,
		},
		"OrderingRemoved": {"its author does", written(t, a+"\nordering: Install", ofOrdered), written(t, a, ofOrdered), false, aOf},
		"OrderingDefaulted": {
			"or sets the default, also while removals do not count",
			written(t, a+"\nordering: Install", ofOrdered), written(t, a+"\nordering: None", ofOrdered), true,
			`record:{"dependencies":[{"name":"a","type":"Required"}],"ordering":"None"}`,
		},
		"Nothing":   {"nothing is declared", nil, written(t, ""), false, ""},
		"Empty":     {"an empty list declares nothing", nil, written(t, "dependencies: []"), false, ""},
		"Missing":   {"admission was away when it was declared", written(t, a), written(t, a), false, aOf},
		"Unchanged": {"a write of something else", written(t, a, aOf), written(t, a, aOf), false, aOf},
		"Changed":   {"the record follows", written(t, a, aOf), written(t, aWhen, aOf), false, ofAll},
		"Reduced":   {"the author removed a property", written(t, aWhen, ofAll), written(t, a, ofAll), false, aOf},
		"EntryRemoved": {
			"an entry less",
			written(t, "dependencies: [{name: a, type: Required}, {name: b}]"), written(t, a), false, aOf,
		},
		"Backup": {"a backup of an object that had lost its field", nil, written(t, "", aOf), false, aOf},
		"BackupOver": {
			"it is written over a newer one: what its record has counts",
			written(t, bAndOptional, ofBAndOptional), written(t, "", aOf), false, aOf,
		},
		"OldRecord": {
			"another writer applies the record of before: what the author removed does not come back",
			written(t, a, aOf), written(t, a, ofAll), false, aOf,
		},
		"OldRecordToo":    {"with the fields of then", written(t, optional, ofOptional), written(t, a, aOf), false, aOf},
		"BackupOfBoth":    {"its field counts, not its older record", written(t, a, aOf), written(t, optional, aOf), false, ofOptional},
		"Removed":         {"the author removed the field", written(t, a, aOf), written(t, "", aOf), false, ""},
		"Emptied":         {"the author emptied the field", written(t, a, aOf), written(t, "dependencies: []", aOf), true, ""},
		"NotMeant":        {"the writer did not see the field", written(t, a, aOf), written(t, "", aOf), true, aOf},
		"NotMeantNested":  {"the writer did not see a property", written(t, aWhen, ofAll), written(t, a, ofAll), true, ofAll},
		"NotMeantMissing": {"there was no record yet", written(t, a), written(t, ""), true, aOf},
		"Lost":            {"the CRD lost the field", written(t, "", aOf), written(t, "", aOf), false, aOf},
		"LostAndReplaced": {
			"a manifest replaces the object while the CRD lacks the field",
			written(t, "", aOf), written(t, ""), false, aOf,
		},
		"Replaced":        {"a manifest has no annotation", written(t, a, aOf), written(t, aWhen), false, ofAll},
		"ReplacedWithout": {"a manifest without the field is a removal", written(t, a, aOf), written(t, ""), false, ""},
		"NestedLost":      {"a smaller schema lost a property", written(t, a, ofAll), written(t, a, ofAll), false, ofAll},
		"NestedUnseen": {
			"an edit with a smaller schema keeps what it could not see",
			written(t, a, ofAll), written(t, bAndOptional, ofAll), false, ofBAndWhen,
		},
		"NestedRemoved": {
			"the entry itself is gone",
			written(t, a, ofAll), written(t, `dependencies: [{name: b}]`, ofAll), false, ofB,
		},
		"OtherFieldUnseen": {
			"requirements that the schema lacks stay",
			written(t, a, aAndOCM), written(t, `dependencies: [{name: b}]`, aAndOCM), false, bAndOCM,
		},
		"Newer": {
			"an edit with an older Interlock keeps what that does not know",
			written(t, a, newer), written(t, optional, newer), false, newerOptional,
		},
		"NewerStale": {
			"so does the leader, which did not see the edit",
			nil, written(t, optional, newer), false, newerOptional,
		},
		"Stale": {
			"an edit while admission was away counts",
			nil, written(t, "dependencies: [{name: b}]", ofAll), false, ofB,
		},
		"StaleBefore": {
			"what was removed then does not come back",
			written(t, "dependencies: [{name: b}]", ofAll), written(t, "dependencies: [{name: b}, {name: a}]", ofAll), false,
			`record:{"dependencies":[{"name":"b"},{"name":"a"}]}`,
		},
		"NewerAPI": {
			"what is provided has no name; an edit elsewhere keeps what this version does not know of it",
			written(t, provided, newerProvided), written(t, a+"\n"+provided, newerProvided), false, newerAndA,
		},
		"NewerAPIRemoved": {
			"and the rest keeps its own where one is removed",
			written(t, provided, newerProvided), written(t, "provides: [{group: g, kind: B}]", newerProvided), false,
			`record:{"provides":[{"group":"g","kind":"B","later":2}]}`,
		},
		"NewerAPIStale": {
			"so does the leader, which did not see the edit",
			nil, written(t, "provides: [{group: g, kind: B}, {kind: C}]", newerProvided), false,
			`record:{"provides":[{"group":"g","kind":"B","later":2},{"kind":"C"}]}`,
		},
		"NewerAPIOfAnEdge": {
			"an edge on an API has a name, under which its API may change",
			written(t, onAPI, newerOnAPI), written(t, "dependencies: [{name: w, type: Required, api: {kind: B}}]", newerOnAPI), false,
			`record:{"dependencies":[{"api":{"kind":"B","later":1},"name":"w","type":"Required"}]}`,
		},
		"TwiceNamed": {
			"entries of one name are told apart by their order",
			written(t, twice, newerTwice), written(t, twice+"\n"+platformOnly, newerTwice), false, newerTwiceAndOCM,
		},
		"LabelsUnseen": {
			"requirements on labels have a key and an operator",
			written(t, onLabels, newerOnLabels), written(t, onOtherLabels, newerOnLabels), false, newerOnOtherLabels,
		},
		"ByHand":        {"an annotation of the author stays", nil, written(t, a, "- name: b"), false, "- name: b"},
		"ByHandRemoved": {"then there is a record", written(t, a, "- name: b"), written(t, a), false, aOf},
		"OnlyByHand":    {"no field, no record", nil, written(t, "", "- name: b"), false, "- name: b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, problem := Keep(tc.stored, *tc.updated, func() bool { return !tc.unmeant })
			want := map[string]string(nil)
			if tc.want != "" {
				want = written(t, "", tc.want).Annotations
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || problem != "" {
				t.Errorf("%s: %s -want, +got:\n%s", tc.reason, problem, diff)
			}
			stored := Written{Annotations: got, Fields: tc.updated.Fields}
			if second, _ := Keep(&stored, stored, nil); !cmp.Equal(second, got) {
				t.Errorf("the next write changes it again: %v", second)
			}
		})
	}
}

func TestAnEditedRecordIsOfItsAuthor(t *testing.T) {
	edited := written(t, a, aOf)
	edited.Annotations[addonv1alpha1.DependenciesAnnotation] = "- name: b"
	got, _ := Keep(written(t, a, aOf), *edited, nil)
	if diff := cmp.Diff(map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: b"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	removed := written(t, "", aOf)
	delete(removed.Annotations, addonv1alpha1.DependenciesAnnotation) // kubectl annotate cma x addon…/dependencies-
	if got, _ := Keep(written(t, "", aOf), *removed, nil); len(got) > 0 {
		t.Errorf("a record that was removed alone is gone: %v", got)
	}
}

func TestRemovedRecord(t *testing.T) {
	for name, test := range map[string]struct {
		reason          string
		stored, updated *Written
		served, want    bool
	}{
		"Replaced":   {"a manifest replaces the object while the CRD lacks the field", written(t, "", aOf), written(t, ""), false, true},
		"Late":       {"the CRD has the field again", written(t, "", aOf), written(t, ""), true, true},
		"WithField":  {"admission saw what was removed", written(t, a, aOf), written(t, ""), true, false},
		"Missed":     {"the watch missed how the field was lost", written(t, a, aOf), written(t, ""), false, true},
		"NoRecord":   {"the field alone was lost", written(t, a), written(t, ""), false, false},
		"RecordLeft": {"the record counts now", written(t, a, aOf), written(t, "", aOf), false, false},
		"Restored":   {"the field is there again", written(t, "", aOf), written(t, a), true, false},
		"ByHand":     {"an annotation of the author is the author's to remove", written(t, "", "- name: a"), written(t, ""), false, false},
		"Edited":     {"the author declares by annotation now", written(t, "", aOf), written(t, "", "- name: b"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			addOns := [2]addonv1alpha1.ClusterManagementAddOn{}
			for i, w := range []*Written{test.stored, test.updated} {
				parsed, err := readFields(w.Fields)
				if err != nil {
					t.Fatal(err)
				}
				addOns[i].Annotations, addOns[i].Spec.Dependencies = w.Annotations, parsed.dependencies
			}
			want := ""
			if test.want {
				want = test.stored.Annotations[addonv1alpha1.DependenciesAnnotation]
			}
			if got := RemovedRecord(&addOns[0], &addOns[1], test.served); got != want {
				t.Errorf("%s: got %q", test.reason, got)
			}
		})
	}
}

func TestKeepIsNeverTooLarge(t *testing.T) {
	updated := written(t, a, aOf)
	updated.Fields["dependencies"].([]any)[0].(map[string]any)["message"] = strings.Repeat("m", 256<<10)
	got, problem := Keep(written(t, a, aOf), *updated, nil)
	if len(got) > 0 || !strings.Contains(problem, "lost if the CRD loses") || !strings.Contains(problem, "at most 262144 are read") {
		t.Errorf("%q: %v", problem, got)
	}
	if (Written{Annotations: got, Fields: updated.Fields}).Recorded() {
		t.Error("nothing is recorded")
	}
}

func TestWhatCounts(t *testing.T) {
	cases := map[string]struct {
		reason   string
		updated  *Written
		counts   string // the declaration that counts, as a spec
		path     string
		restored string // the fields that are written back, as a spec
		recorded bool
		warned   bool
	}{
		"Field":    {"no annotation", written(t, a), a, "spec", "", false, false},
		"Recorded": {"both are equal", written(t, a, aOf), a, "spec", "", true, false},
		"Defaulted": {
			"a type that was left out is the same",
			written(t, `dependencies: [{name: a}]`, aOf), a, "spec", "", true, false,
		},
		"Lost":       {"the record counts", written(t, "", aOf), a, "metadata", a, true, false},
		"NestedLost": {"the record counts", written(t, a, ofAll), aWhen, "metadata", aWhen, true, false},
		"Stale":      {"the field counts", written(t, aWhen, aOf), aWhen, "spec", "", false, false},
		"Emptied":    {"the field counts", written(t, "dependencies: []", aOf), "dependencies: []", "spec", "", false, false},
		"ByHand":     {"an annotation is not written to spec", written(t, "", "- name: a"), a, "metadata", "", true, false},
		"SameByHand": {"no warning", written(t, a, "- name: a"), a, "spec", "", true, false},
		"Different":  {"the field counts", written(t, a, "- name: b"), a, "spec", "", false, true},
		"Hidden": {
			"an empty field hides the annotation",
			written(t, "dependencies: []", "- name: b"), "dependencies: []", "spec", "", false, true,
		},
		"Newer": {"what this version does not know is not evaluated", written(t, a, newer), a, "spec", "", true, false},
		"NewerLost": {
			"and is written back as far as it is known",
			written(t, "", newer), a, "metadata", `dependencies: [{name: a, type: Required, later: true}]`, true, false,
		},
		"Alias": {
			"a record is JSON, so signs are no aliases",
			written(t, "", ofSigns), signs, "metadata", signs, true, false,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			encoded, err := encode(map[string]any{"spec": tc.updated.Fields})
			if err != nil {
				t.Fatal(err)
			}
			var addOn, want addonv1alpha1.ClusterManagementAddOn
			if err := yaml.Unmarshal([]byte(encoded), &addOn); err != nil {
				t.Fatal(err)
			}
			addOn.Annotations, want = tc.updated.Annotations, fixture.Specified(t, "x", tc.counts)
			got := Read(&addOn)
			if diff := cmp.Diff(Read(&want).Dependencies, got.Dependencies); diff != "" || !strings.HasPrefix(got.Path, tc.path) {
				t.Errorf("%s: %s -want, +got:\n%s", tc.reason, got.Path, diff)
			}
			if warned := hasProblem(got, ProblemDeclaredTwice); warned != tc.warned {
				t.Errorf("warned: %t", warned)
			}
			var restored map[string]any
			if err := yaml.Unmarshal([]byte(tc.restored), &restored); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(restored, tc.updated.Restore()); diff != "" {
				t.Errorf("restored -want, +got:\n%s", diff)
			}
			if recorded := tc.updated.Recorded(); recorded != tc.recorded {
				t.Errorf("recorded: %t", recorded)
			}
		})
	}
}

func TestSameDeclared(t *testing.T) {
	inField, recorded := fixture.Specified(t, "x", a), fixture.Specified(t, "x", a)
	recorded.Annotations = written(t, "", aOf).Annotations
	lost := fixture.Specified(t, "x", "{}")
	lost.Annotations = recorded.Annotations
	byHand, byHandToo := fixture.Annotated("x", "- name: a"), fixture.Annotated("x", "- name: b")
	if !SameDeclared(&inField, &recorded) || !SameDeclared(&lost, &recorded) {
		t.Error("a record changes nothing")
	}
	if SameDeclared(&byHand, &byHandToo) || SameDeclared(&inField, &byHand) {
		t.Error("these differ")
	}
}
