package objectfiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeTree writes files to a new folder, and changes to it.
func writeTree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	kustomized    = "resources: [store.yaml]\nlabels: [{pairs: {team: blue}}]\n"
	kustomize     = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
	interlockFile = "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: "
	configMap     = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n"
)

func TestObjectsOfKustomizations(t *testing.T) {
	store := strings.Replace(configMap, "NAME", "store", 1)
	const flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux}\n"
	for name, test := range map[string]struct {
		files map[string]string
		paths string
		// want has the objects with their label, and the messages about what is left out.
		want string
	}{
		"without a kind": {map[string]string{"d/kustomization.yaml": kustomized, "d/store.yaml": store}, "d", "store=blue"},
		"with a kind":    {map[string]string{"d/Kustomization": kustomize + kustomized, "d/store.yaml": store}, "d", "store=blue"},
		"below the folder, beside others": {
			map[string]string{
				"d/e/kustomization.yml": kustomized, "d/e/store.yaml": store, "d/e/other.yaml": "no object",
				"d/plain.yaml": strings.Replace(configMap, "NAME", "plain", 1),
			},
			"d", "plain=, store=blue",
		},
		"its file is named": {
			map[string]string{"d/kustomization.yaml": kustomized, "d/store.yaml": store},
			"d/kustomization.yaml d/store.yaml",
			"store=, left out: d/kustomization.yaml: name its folder, and it is built by kustomize",
		},
		"in a stream": {
			map[string]string{"all.yaml": kustomize + "---\n" + store},
			"all.yaml",
			"store=, left out: all.yaml: the Kustomization of kustomize is no object of a cluster",
		},
		"files of kubectl addon": {
			map[string]string{
				"d/addons.yaml": interlockFile + "AddOnWishes\n", "d/package.yaml": interlockFile + "AddOnPackage\n",
				"d/policy.yaml": interlockFile + "AddOnDependencyPolicy\nmetadata: {name: policy}\n",
			},
			"d", "policy=, left out: d/addons.yaml: the AddOnWishes is a file of kubectl addon, and no object of a cluster, " +
				"left out: d/package.yaml: the AddOnPackage is a file of kubectl addon, and no object of a cluster",
		},
		"files of other programs": {
			map[string]string{
				"d/kubeconfig.yaml": "apiVersion: v1\nkind: Config\n",
				"d/kind.yaml":       "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n",
				"d/kubelet.yaml":    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n", "d/store.yaml": store,
			},
			"d", "store=, left out: d/kind.yaml: the Cluster of kind is no object of a cluster, " +
				"left out: d/kubeconfig.yaml: it is a kubeconfig, which may have credentials, and no object of a cluster, " +
				"left out: d/kubelet.yaml: the KubeletConfiguration of kubelet is no object of a cluster",
		},
		"the index that is written": {
			map[string]string{"store.yaml": store, "index/addons/a/1.0.0.yaml": "no object", "d/index/addons/c.yaml": configMap},
			".", "NAME=, store=, left out: index: the index is written there",
		},
		"the index itself": {
			map[string]string{"index/addons/a/1.0.0.yaml": "no object"},
			"index",
			"left out: index/addons: the index is written there",
		},
		"a chart": {
			map[string]string{"d/c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "d/c/values.yaml": "a: b\n", "d/store.yaml": store},
			"d", "d/c is a Helm chart: kubectl addon index build --chart d/c reads it",
		},
		"no kind": {
			map[string]string{"d/values.yaml": "a: b\n"},
			"d",
			"d/values.yaml: it must be an object of Kubernetes, with apiVersion and kind",
		},
		"a Component": {
			map[string]string{"d/c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n", "d/store.yaml": store},
			"d", "store=, left out: d/c: it is a Component of kustomize, which is built where a kustomization names it",
		},
		"a Kustomization of Flux is an object": {map[string]string{"d/kustomization.yaml": flux, "d/store.yaml": store}, "d", "flux=, store="},
		"one that cannot be built": {
			map[string]string{"d/kustomization.yaml": "resources: [none.yaml]\n"}, "d", "build the kustomization in d: ",
		},
		"one that is no YAML": {map[string]string{"d/kustomization.yaml": "resources: [\n"}, "d", "build the kustomization in d: "},
	} {
		t.Run(name, func(t *testing.T) {
			writeTree(t, test.files)
			read, leftOut, err := Read(strings.Fields(test.paths), strings.NewReader(""), "index")
			var got []string
			for _, object := range read {
				got = append(got, object.GetName()+"="+object.GetLabels()["team"])
			}
			if got = append(got, leftOut...); err != nil {
				got = []string{err.Error()}
			}
			if joined := strings.Join(got, ", "); joined != test.want && (err == nil || !strings.HasPrefix(joined, test.want)) {
				t.Errorf("got  %s\nwant %s", joined, test.want)
			}
		})
	}
}
