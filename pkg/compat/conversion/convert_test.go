package conversion

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	alpha = `"apiVersion":"addon.open-cluster-management.io/v1alpha1","kind":"ClusterManagementAddOn","metadata":{"name":"gateway"}`
	beta  = `"apiVersion":"addon.open-cluster-management.io/v1beta1","kind":"ClusterManagementAddOn","metadata":{"name":"gateway"}`
)

// fields has the fields of a JSON object without decoding them.
type fields map[string]json.RawMessage

// Convert returns an object in the desired version.
func Convert(object []byte, desired string) ([]byte, error) {
	convert, err := converter(object, desired)
	if err != nil {
		return nil, err
	}
	var converted bytes.Buffer
	out := output{bufio.NewWriter(&converted)}
	convert.write(out, object)
	err = out.Flush()
	return converted.Bytes(), err
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

func TestConvert(t *testing.T) {
	for _, test := range []struct {
		name        string
		alpha, beta string // the parts after the constants alpha and beta
	}{
		{"no spec: none is invented", ``, ``},
		{"an empty spec stays empty", `,"spec":{}`, `,"spec":{}`},
		{"spec and status null", `,"spec":null,"status":null`, `,"spec":null,"status":null`},
		{
			"what both versions have", `,"spec":{"addOnMeta":{"displayName":"G"},"installStrategy":{"type":"Manual"}}`,
			`,"spec":{"addOnMeta":{"displayName":"G"},"installStrategy":{"type":"Manual"}}`,
		},
		{
			"ours alone", `,"spec":{"dependencies":[{"name":"proxy","type":"Optional","message":"<&> ü"}]}`,
			`,"spec":{"dependencies":[{"name":"proxy","type":"Optional","message":"<&> ü"}]}`,
		},
		{
			"ours, fields that this program does not know",
			`,"spec":{"dependencies":[{"name":"a","when":{"n":9007199254740993,"f":1.50,"l":[null,{}]}}]}`,
			`,"spec":{"dependencies":[{"name":"a","when":{"n":9007199254740993,"f":1.50,"l":[null,{}]}}]}`,
		},
		{"ours, empty is not absent", `,"spec":{"dependencies":[]}`, `,"spec":{"dependencies":[]}`},
		{
			"null in place of what is known", `,"spec":{"addOnMeta":null,"supportedConfigs":null},"status":{"defaultconfigReferences":null}`,
			`,"spec":{"addOnMeta":null,"defaultConfigs":null},"status":{"defaultConfigReferences":null}`,
		},
		{"a null element", `,"spec":{"supportedConfigs":[null]}`, `,"spec":{"defaultConfigs":[null]}`},
		{"what no schema accepts", `,"spec":[],"status":1`, `,"spec":[],"status":1`},
		{
			"what no schema accepts inside", `,"spec":{"supportedConfigs":["x",{}],"dependencies":1}`,
			`,"spec":{"defaultConfigs":["x",{"name":"__reserved_no_default__"}],"dependencies":1}`,
		},
		{
			"a number that overflows OCM's types",
			`,"spec":{"installStrategy":{"placements":[{"rolloutStrategy":{"all":{"maxConcurrency":99999999999999999999}}}]}}`,
			`,"spec":{"installStrategy":{"placements":[{"rolloutStrategy":{"all":{"maxConcurrency":99999999999999999999}}}]}}`,
		},
		{"ours, null", `,"spec":{"dependencies":null}`, `,"spec":{"dependencies":null}`},
		{
			"what the api module renames", `,"spec":{"dependencies":[{"name":"a"}],"supportedConfigs":[
			{"group":"g","resource":"r","defaultConfig":{"name":"n","namespace":"ns"}},{"group":"g","resource":"s"}]}`,
			`,"spec":{"dependencies":[{"name":"a"}],"defaultConfigs":[
			{"group":"g","resource":"r","name":"n","namespace":"ns"},{"group":"g","resource":"s","name":"__reserved_no_default__"}]}`,
		},
		{
			"fields of a newer OCM, and a null",
			`,"newer":1.50,"spec":{"newer":null,"addOnMeta":{"displayName":"G","newer":[{"a":null}]},"supportedConfigs":[
			{"group":"g","resource":"r","defaultConfig":{"name":"n"},"newer":{}}],"installStrategy":{"type":"Placements","placements":[
			{"name":"p","namespace":"ns","newer":9007199254740993,"rolloutStrategy":{"newer":""}}]}},"status":{"newer":false}`,
			`,"newer":1.50,"spec":{"newer":null,"addOnMeta":{"displayName":"G","newer":[{"a":null}]},"defaultConfigs":[
			{"group":"g","resource":"r","name":"n","newer":{}}],"installStrategy":{"type":"Placements","placements":[
			{"name":"p","namespace":"ns","newer":9007199254740993,"rolloutStrategy":{"newer":""}}]}},"status":{"newer":false}`,
		},
		{
			"no nulls are invented",
			`,"status":{"installProgressions":[{"name":"p","namespace":"ns","configReferences":[` +
				`{"group":"g","resource":"r","desiredConfig":{"name":"n","specHash":"h"}}]}]}`,
			`,"status":{"installProgressions":[{"name":"p","namespace":"ns","configReferences":[` +
				`{"group":"g","resource":"r","desiredConfig":{"name":"n","specHash":"h"}}]}]}`,
		},
		{
			"status", `,"status":{"defaultconfigReferences":[{"group":"g","resource":"r","desiredConfig":{"name":"n","specHash":"h"}}]}`,
			`,"status":{"defaultConfigReferences":[{"group":"g","resource":"r","desiredConfig":{"name":"n","specHash":"h"}}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			stored, converted := "{"+alpha+test.alpha+"}", "{"+beta+test.beta+"}"
			got, err := Convert([]byte(stored), v1beta1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, []byte(converted)), decoded(t, got)); diff != "" {
				t.Errorf("to v1beta1 (-want +got):\n%s", diff)
			}
			got, err = Convert([]byte(converted), v1alpha1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, []byte(stored)), decoded(t, got)); diff != "" {
				t.Errorf("to v1alpha1 (-want +got):\n%s", diff)
			}
		})
	}
}

// A field that the target version lacks, or has as another type, is dropped.
func TestConvertDropsWhatHasNoPlace(t *testing.T) {
	for _, test := range []struct{ name, object, desired, want string }{
		{
			"a deprecated field", "{" + alpha + `,"spec":{"addOnConfiguration":{"crdName":"c"},"dependencies":[]}}`, v1beta1,
			"{" + beta + `,"spec":{"dependencies":[]}}`,
		},
		{
			"the other version's default configuration",
			"{" + beta + `,"spec":{"defaultConfigs":[{"resource":"r","defaultConfig":{"name":"wrong"}}]}}`, v1alpha1,
			"{" + alpha + `,"spec":{"supportedConfigs":[{"resource":"r"}]}}`,
		},
		{
			"a namespace without a name", "{" + beta + `,"spec":{"defaultConfigs":[{"resource":"r","namespace":"ns"}]}}`, v1alpha1,
			"{" + alpha + `,"spec":{"supportedConfigs":[{"resource":"r"}]}}`,
		},
		{
			"the other version's name of a list", "{" + beta + `,"spec":{"supportedConfigs":[{"resource":"r"}]}}`, v1alpha1,
			"{" + alpha + `,"spec":{}}`,
		},
		{
			"the other version's name of a field", "{" + alpha + `,"spec":{"supportedConfigs":[{"resource":"r","name":"wrong"}]}}`, v1beta1,
			"{" + beta + `,"spec":{"defaultConfigs":[{"resource":"r","name":"__reserved_no_default__"}]}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Convert([]byte(test.object), test.desired)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, []byte(test.want)), decoded(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvertKeepsMetadataAsItIs(t *testing.T) {
	metadata := `{"name":"gateway","uid":"u","generation":3,"managedFields":[{"fieldsV1":{"f:spec":{}}}],"newerField":[1]}`
	object := strings.Replace("{"+alpha+"}", `{"name":"gateway"}`, metadata, 1)
	got, err := Convert([]byte(object), v1beta1)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got), `"metadata":`+metadata) {
		t.Errorf("got %s", got)
	}
}

func TestConvertRefuses(t *testing.T) {
	for _, test := range []struct {
		name, object, desired string
		want                  []string
	}{
		{"nothing", ``, v1beta1, []string{"not a JSON object"}},
		{"null", `null`, v1beta1, []string{"not a JSON object"}},
		{"a list", `[]`, v1beta1, []string{"not a JSON object"}},
		{"no kind", `{"metadata":{"name":"x"}}`, v1beta1, []string{`"x"`, "only a ClusterManagementAddOn can"}},
		{"another kind", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, v1beta1, []string{`Secret "x" of v1 cannot`}},
		{
			"another version", "{" + alpha + "}", "addon.open-cluster-management.io/v1",
			[]string{`"gateway"`, "io/v1alpha1 to ", "io/v1:", "only"},
		},
		{"no version", "{" + alpha + "}", "", []string{`"gateway"`, "io/v1alpha1 to :"}},
		{
			"a name that is too long", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"` + strings.Repeat("x", 1000) + `"}}`, v1beta1,
			[]string{`"xxx`, `xxx…" of v1 cannot`},
		},
		{
			"metadata is a number", `{"apiVersion":"x","kind":"ClusterManagementAddOn","metadata":1}`, v1beta1,
			[]string{`"" cannot be converted by Interlock: x`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Convert([]byte(test.object), test.desired)
			if err == nil {
				t.Fatalf("converted it to %s", got)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}
