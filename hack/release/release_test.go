package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"helm.sh/helm/v4/pkg/chart/common"
	chartutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"
)

// smallOrder returns the order of a release with small programs, because Interlock's take
// minutes to compile for six platforms. All other files are Interlock's.
func smallOrder(t *testing.T) *order {
	t.Helper()
	for _, variable := range []string{"GOFLAGS", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140"} {
		t.Setenv(variable, os.Getenv(variable)) // to be restored
	}
	module := t.TempDir()
	if err := os.CopyFS(module, os.DirFS("../images/testdata/hello")); err != nil {
		t.Fatal(err)
	}
	return &order{
		programs: programs{
			module: module, packages: map[string]string{manager: ".", agent: ".", plugin: "."},
			ldflags: func(string) string { return "-s -w" },
		},
		imagePlatforms: platforms("linux/amd64", "linux/arm64"), pluginPlatforms: platforms("linux/amd64", "windows/amd64"),
		repository: copyOfRepository(t), out: t.TempDir(), version: "v1.2.3", imagePrefix: "registry.test/interlock-",
		source: "https://git.test/interlock",
	}
}

// copyOfRepository returns a repository with the files that a release reads. Its only commit has a tag.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "deploy"), os.DirFS("../../deploy")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(folder, "cmd/kubectl-addon"), os.DirFS("../../cmd/kubectl-addon")); err != nil {
		t.Fatal(err)
	}
	license, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	changelog := "# Changelog\n\n## Unreleased\n\n- not yet\n\n## [1.2.3] - 2026-01-01\n\n- [new](docs/install.md#new)\n\n## 1.2.2\n\n- old\n"
	for file, content := range map[string][]byte{"LICENSE": license, "CHANGELOG.md": []byte(changelog)} {
		if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(t, folder, "init", "--quiet")
	git(t, folder, "add", ".")
	git(t, folder, "commit", "--quiet", "--message", "all")
	git(t, folder, "tag", "v1.2.3")
	return folder
}

func git(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a.test",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", arguments, err, output)
	}
}

func makeRelease(t *testing.T, o *order) {
	t.Helper()
	if err := o.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, o *order, file string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(o.out, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Neither folders nor the time of the build change the bytes.
func TestTheSameCommitGivesTheSameRelease(t *testing.T) {
	first, second := smallOrder(t), smallOrder(t)
	makeRelease(t, first)
	makeRelease(t, second)
	if a, b := content(t, first, checksums), content(t, second, checksums); a != b {
		t.Errorf("checksums\n%s, then\n%s", a, b)
	}
}

func TestAReleaseIsComplete(t *testing.T) {
	o := smallOrder(t)
	makeRelease(t, o)
	var files []string
	for line := range strings.Lines(content(t, o, checksums)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got, err := checksum(filepath.Join(o.out, file)); err != nil || got != sum {
			t.Errorf("%s has the checksum %s, not %s (%v)", file, got, sum, err)
		}
		files = append(files, file)
	}
	want := []string{
		"addon-agent.tar", "addon-agent_linux_amd64.cdx.json", "addon-agent_linux_arm64.cdx.json",
		"addon-manager.tar", "addon-manager_linux_amd64.cdx.json", "addon-manager_linux_arm64.cdx.json",
		"install.yaml", "interlock-1.2.3.tgz", "krew-ocm-addon.yaml",
		"kubectl-addon_linux_amd64.cdx.json", "kubectl-addon_linux_amd64.tar.gz",
		"kubectl-addon_windows_amd64.cdx.json", "kubectl-addon_windows_amd64.zip",
		"release-notes.md", "uninstall.yaml",
	}
	if !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	entries, err := os.ReadDir(o.out)
	if err != nil || len(entries) != len(want)+1 {
		t.Errorf("%d files, but %d have a checksum (%v)", len(entries), len(want), err)
	}
	notes := content(t, o, "release-notes.md")
	if !strings.Contains(notes, "- [new](https://git.test/interlock/blob/v1.2.3/docs/install.md#new)\n") || strings.Contains(notes, "old") {
		t.Errorf("notes\n%s", notes)
	}
}

func TestThePluginsArchivesAreAsKrewWantsThem(t *testing.T) {
	o := smallOrder(t)
	makeRelease(t, o)
	var manifest struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct {
			Version, Homepage, Caveats, ShortDescription, Description string
			Platforms                                                 []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.UnmarshalStrict([]byte(content(t, o, krewFile)), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || manifest.Kind != "Plugin" ||
		manifest.Metadata.Name != "ocm-addon" || manifest.Spec.Version != "v1.2.3" || len(manifest.Spec.ShortDescription) > 50 {
		t.Errorf("%+v", manifest)
	}
	if len(manifest.Spec.Platforms) != 2 {
		t.Fatalf("%d platforms", len(manifest.Spec.Platforms))
	}
	for _, platform := range manifest.Spec.Platforms {
		file, ok := strings.CutPrefix(platform.URI, "https://git.test/interlock/releases/download/v1.2.3/")
		if got, err := checksum(filepath.Join(o.out, file)); !ok || err != nil || got != platform.SHA256 {
			t.Errorf("%s: checksum %s, want %s (%v)", platform.URI, platform.SHA256, got, err)
		}
		packed, complete := untar, "kubectl_complete-addon"
		if platform.Selector.MatchLabels["os"] == "windows" {
			packed, complete = unzip, complete+".cmd"
		}
		files := packed(t, filepath.Join(o.out, file))
		for _, want := range []string{platform.Bin, complete, "LICENSE", "licenses/std/LICENSE", "licenses/example.com/greeting/LICENSE"} {
			if !slices.Contains(files, want) {
				t.Errorf("%s has %q, but no %s", file, files, want)
			}
		}
	}
}

// https://krew.sigs.k8s.io/docs/developer-guide/develop/naming-guide/
func TestTheNameForKrewFollowsItsGuide(t *testing.T) {
	name := regexp.MustCompile(`(?m)^  name: (.*)$`).FindStringSubmatch(krew)[1]
	if !regexp.MustCompile(`^ocm(-[a-z0-9]+)+$`).MatchString(name) {
		t.Errorf("%s: lower case with hyphens, after the prefix of the vendor", name)
	}
	// krew links the program under this name, with an underscore for each hyphen.
	link := "kubectl-" + strings.ReplaceAll(name, "-", "_")
	page, err := os.ReadFile("../../docs/kubectl-addon.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "ln -s " + link + ` "${KREW_ROOT:-$HOME/.krew}/bin/kubectl-addon"`
	for where, text := range map[string]string{"docs/kubectl-addon.md": string(page), "the caveats": krew} {
		if !strings.Contains(text, want) || !strings.Contains(text, "kubectl "+name) {
			t.Errorf("%s: no %q, which gives the command kubectl addon", where, want)
		}
	}
}

func untar(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compressed, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}

func unzip(t *testing.T, path string) []string {
	t.Helper()
	reader, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var names []string
	for _, file := range reader.File {
		names = append(names, file.Name)
	}
	return names
}

// A user has nothing but a registry and install.yaml.
func TestWhatIsPushedCanBeInstalledFromTheRegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	o := smallOrder(t)
	o.imagePrefix, o.push, o.pushed = host+"/mine/interlock-", true, filepath.Join(t.TempDir(), "pushed")
	makeRelease(t, o)

	digest := func(program string) string {
		tag, err := name.NewTag(host+"/mine/interlock-"+program+":1.2.3", name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		index, err := remote.Index(tag)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(index); err != nil {
			t.Errorf("%s: %v", tag, err)
		}
		hash, err := index.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return tag.String() + "@" + hash.String()
	}
	managers, agents := digest(manager), digest(agent)
	rendered := renderFrom(t, host+"/mine/charts/interlock:1.2.3", "agent: {install: true}")
	for source, test := range map[string]struct {
		text string
		want []string
	}{
		"the chart":      {rendered, []string{managers, managers, managers, managers, agents}},
		"install.yaml":   {content(t, o, "install.yaml"), []string{managers, managers}},
		"uninstall.yaml": {content(t, o, "uninstall.yaml"), []string{managers}},
	} {
		if got := imagesIn(test.text); !slices.Equal(got, slices.Sorted(slices.Values(test.want))) {
			t.Errorf("%s has the images %q, want %q", source, got, test.want)
		}
	}
	// If values have a tag, the digests of the chart do not count.
	want := "registry.test/addon-manager:mine"
	if got := imagesIn(renderFrom(t, host+"/mine/charts/interlock:1.2.3", "images: {prefix: registry.test/, tag: mine}")); got[0] != want {
		t.Errorf("images %q, want %q", got, want)
	}
	pushed, err := os.ReadFile(o.pushed)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(pushed)) {
		reference, err := name.NewDigest(strings.TrimSpace(line), name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Head(reference); err != nil {
			t.Errorf("%s was not pushed: %v", reference, err)
		}
	}
	if lines := strings.Count(string(pushed), "\n"); lines != 3 {
		t.Errorf("%d pushed:\n%s", lines, pushed)
	}
}

// renderFrom renders the chart of a registry, as `helm template oci://...` does.
func renderFrom(t *testing.T, reference, values string) string {
	t.Helper()
	client, err := registryClient(true)
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := client.Pull(reference)
	if err != nil {
		t.Fatal(err)
	}
	chart, err := loader.LoadArchive(strings.NewReader(string(pulled.Chart.Data)))
	if err != nil {
		t.Fatal(err)
	}
	overrides := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &overrides); err != nil {
		t.Fatal(err)
	}
	release := common.ReleaseOptions{Name: "interlock", Namespace: "interlock-system", IsInstall: true}
	renderValues, err := chartutil.ToRenderValues(chart, overrides, release, nil)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Render(chart, renderValues)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, manifest := range rendered {
		text.WriteString(manifest + "\n")
	}
	return text.String()
}

var imageLine = regexp.MustCompile(`(?m)^\s*(?:- )?image: (\S+)$`)

func imagesIn(manifests string) []string {
	var images []string
	for _, match := range imageLine.FindAllStringSubmatch(manifests, -1) {
		images = append(images, match[1])
	}
	slices.Sort(images)
	return images
}

func TestAnOrderThatCannotBeMadeIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(o *order)
		want   string
	}{
		"no version":             {func(o *order) { o.version = "" }, "-version="},
		"a commit":               {func(o *order) { o.version = "5e05da8" }, "-version="},
		"a tag cannot have a +":  {func(o *order) { o.version = "v1.2.3+a" }, "-version="},
		"no images":              {func(o *order) { o.imagePrefix = "" }, "-image-prefix"},
		"no registry":            {func(o *order) { o.imagePrefix = "interlock-" }, "-charts"},
		"charts that are no OCI": {func(o *order) { o.charts = "https://charts.test" }, "-charts"},
		"no repository":          {func(o *order) { o.repository = os.TempDir() }, "a release is made of a commit"},
		"another version's commit": {
			func(o *order) { o.version, o.strict = "v1.2.4", true }, "has no tag v1.2.4",
		},
		"changes that are not committed": {func(o *order) {
			o.strict = true
			_ = os.WriteFile(filepath.Join(o.repository, "LICENSE"), nil, 0o600)
		}, "1 files are not as in the commit: M LICENSE"},
		"a version that is not in the changelog": {func(o *order) {
			o.version, o.strict = "v1.2.4", true
			_ = exec.Command("git", "-C", o.repository, "tag", "v1.2.4").Run()
		}, `CHANGELOG.md has no section "## 1.2.4"`},
		"a version that declarations cannot name": {
			func(o *order) { o.strict = true }, "Chart.yaml has appVersion 0.1.0: set it, and Interlock in pkg/dependency/declaration/versions, to 1.2.3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := smallOrder(t)
			kept := filepath.Join(o.out, "kept")
			if err := os.WriteFile(kept, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			test.change(o)
			if err := o.run(t.Context()); err == nil || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error %v does not say %q", err, test.want)
			}
			if _, err := os.Stat(kept); err != nil {
				t.Error("what was there is deleted")
			}
		})
	}
}

// A trial release without a section in the changelog has notes, too.
func TestATryHasTheChangesThatAreNotReleased(t *testing.T) {
	o := smallOrder(t)
	o.version, o.tag, o.plain, o.source = "v9.0.0", "v9.0.0", "9.0.0", ""
	notes, err := o.notes()
	if err != nil || !strings.Contains(notes, "CHANGELOG.md has no section for v9.0.0") || !strings.HasSuffix(notes, "\n- not yet\n") {
		t.Errorf("%v\n%s", err, notes)
	}
}

// Artifact Hub reads what the chart is, its CRDs and its images from annotations.
func TestTheChartDescribesItselfToArtifactHub(t *testing.T) {
	o := smallOrder(t)
	o.version = "v1.3.0-rc.1"
	makeRelease(t, o)
	chart, err := loader.LoadFile(filepath.Join(o.out, "interlock-1.3.0-rc.1.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	annotations := chart.Metadata.Annotations
	if annotations["artifacthub.io/license"] != "Apache-2.0" || annotations["artifacthub.io/prerelease"] != "true" || chart.Metadata.Home != o.source {
		t.Errorf("home %q, annotations %v", chart.Metadata.Home, annotations)
	}
	var images []struct{ Name, Image string }
	if err := yaml.UnmarshalStrict([]byte(annotations["artifacthub.io/images"]), &images); err != nil || len(images) != 2 ||
		!strings.HasPrefix(images[0].Image, "registry.test/interlock-addon-manager:1.3.0-rc.1@sha256:") {
		t.Errorf("images %+v (%v)", images, err)
	}
	var described []struct{ Kind, Version, Name, DisplayName, Description string }
	if err := yaml.UnmarshalStrict([]byte(annotations["artifacthub.io/crds"]), &described); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, file := range chart.Files {
		var crd struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				Names    struct{ Kind string }
				Versions []struct{ Name string }
			}
		}
		if yaml.Unmarshal(file.Data, &crd) == nil && crd.Kind == "CustomResourceDefinition" {
			want[crd.Metadata.Name+" "+crd.Spec.Names.Kind+" "+crd.Spec.Versions[0].Name] = true
		}
	}
	for _, crd := range described {
		key := crd.Name + " " + crd.Kind + " " + crd.Version
		if !want[key] || crd.Description == "" {
			t.Errorf("the chart has no CRD %s", key)
		}
		delete(want, key)
	}
	if len(want) > 0 || len(described) == 0 {
		t.Errorf("CRDs that the annotation does not have: %v", want)
	}
}
