package gate

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

func waiting(template string) string {
	return fmt.Sprintf(
		`{"type":"Upgradable","status":"False","reason":"WaitingForDependencies","message":"AddOnTemplate '%s' (version 2) waits: x",`+
			`"lastTransitionTime":"2026-03-01T10:00:00Z"}`,
		template,
	)
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

// Both forms put the reference back to an AddOnTemplate that runs, while another one waits.
func TestTheTemplateThatRunsStays(t *testing.T) {
	runs, next := reference("v1", "v1"), reference("v2", "")
	held := deploying(addOn("", waiting("v2")), runs)
	policy := compiled(t)
	for name, test := range map[string]struct {
		before, after string
		at            int // index of the reference that is put back; -1: none
	}{
		"Waits":              {held, deploying(addOn("", waiting("v2")), next), 0},
		"BehindAnother":      {held, deploying(addOn("", waiting("v2")), config, next), 1},
		"NothingElseChanges": {held, deploying(addOn("", waiting("v2"), condition(available, "False", "")), next), 0},
		"AsItIsStored":       {held, held, -1},
		"AnotherTemplate":    {held, deploying(addOn("", waiting("v2")), reference("v3", "")), -1},
		"NoReference":        {held, addOn("", waiting("v2")), -1},
		"NothingRuns":        {addOn("", waiting("v2")), deploying(addOn("", waiting("v2")), next), -1},
		"WaitsNoMore": {
			deploying(addOn("", condition(upgradable, "True", "AddOnTemplate 'v2' waits: x")), runs), deploying(addOn(""), next), -1,
		},
		"ForAnotherReason": {
			deploying(addOn("", condition(upgradable, "False", "AddOnTemplate 'v2' waits: x")), runs), deploying(addOn(""), next), -1,
		},
		"NoCondition":        {deploying(addOn(""), runs), deploying(addOn(""), next), -1},
		"AWriteLiftsNothing": {held, deploying(addOn(""), next), 0},
		"NorHoldsAnything":   {deploying(addOn(""), runs), deploying(addOn("", waiting("v2")), next), -1},
		"ByHand":             {deploying(addOn(byHand, waiting("v2")), runs), deploying(addOn(byHand, waiting("v2")), next), -1},
		"ByHandForAnother":   {deploying(addOn(byHand, waiting("v3")), runs), deploying(addOn(byHand, waiting("v3")), reference("v3", "")), 0},
		"IsDeleted": {
			deploying(addOn(`"deletionTimestamp":"2026-03-01T10:00:00Z"`, waiting("v2")), runs), deploying(addOn(""), next), -1,
		},
		"ItsBeginningOnly":    {deploying(addOn("", waiting("v20")), runs), deploying(addOn(""), next), -1},
		"BehindAGateAsBefore": {deploying(addOn(closed, waiting("v2")), runs), deploying(addOn(closed, waiting("v2")), next), 0},
	} {
		t.Run(name, func(t *testing.T) {
			patch, err := Mutate([]byte(test.before), []byte(test.after), false)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf(
				"/status/configReferences/%d",
				test.at,
			); (test.at < 0) != (len(patch) == 0) ||
				len(patch) > 0 && patch[0].Path != want {
				t.Errorf("patch %v, want %s", patch, want)
			}
			compareForms(t, policy, []byte(test.before), []byte(test.after))
		})
	}
}

func shapedReferences(b byte) []string {
	all := []string{config, reference("v1", "v1"), reference("v2", ""), reference("v2", "v1"), reference("other", "")}
	var references []string
	for i := range all {
		if b>>i&1 == 1 {
			references = append(references, all[i])
		}
	}
	return references
}

// putBackIn applies one operation on references.
func putBackIn(t *testing.T, to *unstructured.Unstructured, operation jsonpatch.Operation) {
	t.Helper()
	var index int
	if _, err := fmt.Sscanf(operation.Path, "/status/configReferences/%d", &index); err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := json.Unmarshal(operation.Value.(json.RawMessage), &value); err != nil {
		t.Fatal(err)
	}
	references, _, _ := unstructured.NestedSlice(to.Object, "status", "configReferences")
	references[index] = value
	if err := unstructured.SetNestedSlice(to.Object, references, "status", "configReferences"); err != nil {
		t.Fatal(err)
	}
}
