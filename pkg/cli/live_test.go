package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// live serves the lists of objects of a hub, by resource.
func live(t *testing.T, content string) string {
	t.Helper()
	objects := map[string][]map[string]any{}
	if err := yaml.Unmarshal([]byte(content), &objects); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{"clustermanagementaddons": "ClusterManagementAddOn", "addontemplates": "AddOnTemplate"}
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		resource := path.Base(request.URL.Path)
		for _, object := range objects[resource] {
			object["apiVersion"], object["kind"] = "addon.open-cluster-management.io/v1alpha1", kinds[resource]
		}
		_ = json.NewEncoder(response).Encode(map[string]any{
			"apiVersion": "addon.open-cluster-management.io/v1alpha1", "kind": kinds[resource] + "List",
			"items": append([]map[string]any{}, objects[resource]...),
		})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestIndexOfHub(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Chdir(t.TempDir())
	const named = "supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: %}}]"
	for name, tt := range map[string]struct {
		hub, flags string
		want       []string
	}{
		"without fields that the hub adds": {
			hub: "clustermanagementaddons:\n- metadata: {name: a, finalizers: [a/b], resourceVersion: '1'}\n" +
				"  spec: {" + strings.Replace(named, "%", "a", 1) + "}\n" +
				"addontemplates: [{metadata: {name: a, finalizers: [a/b]}, spec: {addonName: a, addonVersion: 1.0.0}}]\n",
			flags: " --version a=1.0.0", want: []string{"a 1.0.0 was added\n"},
		},
		"an AddOnTemplate is missing": {
			hub: "clustermanagementaddons:\n- {metadata: {name: a}, spec: {" + strings.Replace(named, "%", "gone", 1) + "}}\n" +
				"- {metadata: {name: b}, spec: {}}\n",
			flags: " --version a=1.0.0 --version b=1.0.0",
			want: []string{
				"b 1.0.0 was added\n",
				`left out: hub: add-on "a": it has no AddOnTemplate "gone", which its ClusterManagementAddOn names as the default`,
			},
		},
		"no add-on": {want: []string{"The hub has no ClusterManagementAddOn, so nothing was added.\n"}},
		"another add-on than the one with a version": {
			hub: "clustermanagementaddons: [{metadata: {name: a}, spec: {}}]", flags: " --version b=1.0.0",
			want: []string{"kubectl addon index build: --version: add-on 'b' is not in what was read: 'a'\n", "exit code 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			expectRun(t, "index build --live --to "+folder+" --server "+live(t, tt.hub)+tt.flags, tt.want[0], tt.want...)
			if content, _ := os.ReadFile(filepath.Join(folder, "addons/a/1.0.0.yaml")); strings.Contains(string(content), "finalizers") {
				t.Errorf("it has fields that the hub has added:\n%s", content)
			}
		})
	}
}
