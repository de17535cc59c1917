package gaterule

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	upgradable = "Upgradable"
	byHand     = `"annotations":{"dependency.addon.open-cluster-management.io/upgrade":"v2"}`
	config     = `{"group":"addon.open-cluster-management.io","resource":"addondeploymentconfigs","desiredConfig":{"name":"c"}}`
)

const waits = `{"type":"Upgradable","status":"False","reason":"WaitingForDependencies","message":"in any words",` +
	`"lastTransitionTime":"2026-03-01T10:00:00Z"}`

// held returns an add-on with an AddOnTemplate that waits.
func held(metadata, template string, conditions ...string) string {
	return related(addOn(metadata, append([]string{waits}, conditions...)...), template)
}

// related adds an AddOnTemplate to the related objects of an add-on.
func related(addOn, template string) string {
	return strings.Replace(addOn, `"status":{`, `"status":{"relatedObjects":[`+
		`{"group":"apps","resource":"deployments","namespace":"n","name":"v2"},`+
		`{"group":"addon.open-cluster-management.io","resource":"addontemplates","name":"`+template+`"}],`, 1)
}

func reference(desired, applied string) string {
	text := fmt.Sprintf(`{"group":"addon.open-cluster-management.io","resource":"addontemplates","name":%q,`+
		`"desiredConfig":{"name":%q,"specHash":"h"}`, desired, desired)
	if applied != "" {
		text += `,"lastAppliedConfig":{"name":"` + applied + `","specHash":"h"}`
	}
	return text + "}"
}

// deploying adds references to an add-on.
func deploying(addOn string, references ...string) string {
	if references == nil {
		return addOn
	}
	return strings.Replace(addOn, `"status":{`, `"status":{"configReferences":[`+strings.Join(references, ",")+`],`, 1)
}

// Both forms restore the reference to the running AddOnTemplate while another template waits.
func TestTheTemplateThatRunsStays(t *testing.T) {
	runs, next := reference("v1", "v1"), reference("v2", "")
	v2 := deploying(held("", "v2"), runs)
	policy := compiled(t)
	for name, test := range map[string]struct {
		stored, update string
		restored       int // the index of the restored reference, or -1
	}{
		"Waits":              {v2, deploying(held("", "v2"), next), 0},
		"BehindAnother":      {v2, deploying(held("", "v2"), config, next), 1},
		"NothingElseChanges": {v2, deploying(held("", "v2", condition(available, "False", "")), next), 0},
		"AsItIsStored":       {v2, v2, -1},
		"AnotherTemplate":    {v2, deploying(held("", "v2"), reference("v3", "")), -1},
		"NoReference":        {v2, held("", "v2"), -1},
		"NothingRuns":        {held("", "v2"), deploying(held("", "v2"), next), -1},
		"WaitsNoMore": {
			deploying(related(addOn("", condition(upgradable, "True", "x")), "v2"), runs), deploying(addOn(""), next), -1,
		},
		"ForAnotherReason": {
			deploying(related(addOn("", condition(upgradable, "False", "x")), "v2"), runs), deploying(addOn(""), next), -1,
		},
		"NothingRelated":     {deploying(addOn("", waits), runs), deploying(addOn(""), next), -1},
		"NoCondition":        {deploying(addOn(""), runs), deploying(addOn(""), next), -1},
		"AWriteLiftsNothing": {v2, deploying(addOn(""), next), 0},
		"NorHoldsAnything":   {deploying(addOn(""), runs), deploying(held("", "v2"), next), -1},
		"ByHand":             {deploying(held(byHand, "v2"), runs), deploying(held(byHand, "v2"), next), -1},
		"ByHandForAnother":   {deploying(held(byHand, "v3"), runs), deploying(held(byHand, "v3"), reference("v3", "")), 0},
		"IsDeleted": {
			deploying(held(`"deletionTimestamp":"2026-03-01T10:00:00Z"`, "v2"), runs), deploying(addOn(""), next), -1,
		},
		"ItsBeginningOnly":    {deploying(held("", "v20"), runs), deploying(addOn(""), next), -1},
		"BehindAGateAsBefore": {deploying(held(closed, "v2"), runs), deploying(held(closed, "v2"), next), 0},
	} {
		t.Run(name, func(t *testing.T) {
			patch, err := Mutate([]byte(test.stored), []byte(test.update), false)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf(
				"/status/configReferences/%d",
				test.restored,
			); (test.restored < 0) != (len(patch) == 0) ||
				len(patch) > 0 && patch[0].Path != want {
				t.Errorf("patch %v, want %s", patch, want)
			}
			compareForms(t, policy, []byte(test.stored), []byte(test.update))
		})
	}
}

func shapedReferences(b byte) []string {
	candidates := []string{config, reference("v1", "v1"), reference("v2", ""), reference("v2", "v1"), reference("other", "")}
	var references []string
	for i := range candidates {
		if b>>i&1 == 1 {
			references = append(references, candidates[i])
		}
	}
	return references
}

// restoreIn applies an operation on references.
func restoreIn(t *testing.T, addOn *unstructured.Unstructured, operation jsonpatch.Operation) {
	t.Helper()
	var index int
	if _, err := fmt.Sscanf(operation.Path, "/status/configReferences/%d", &index); err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := json.Unmarshal(operation.Value.(json.RawMessage), &value); err != nil {
		t.Fatal(err)
	}
	references, _, _ := unstructured.NestedSlice(addOn.Object, "status", "configReferences")
	references[index] = value
	if err := unstructured.SetNestedSlice(addOn.Object, references, "status", "configReferences"); err != nil {
		t.Fatal(err)
	}
}
