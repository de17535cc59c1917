package deployment

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/strvals"
	"sigs.k8s.io/yaml"
)

// fenced matches a block of commands or YAML of a page.
var fenced = regexp.MustCompile("(?ms)^```(sh|console|yaml)\n(.*?)^```$")

// blocks returns the blocks in these languages of each page, by the page's path.
func blocks(t *testing.T, languages ...string) map[string][]string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	byPage := map[string][]string{}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../docs/dev/testing.md", "../../docs/dev/releasing.md") {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range fenced.FindAllStringSubmatch(string(content), -1) {
			if slices.Contains(languages, match[1]) {
				byPage[page] = append(byPage[page], match[2])
			}
		}
	}
	return byPage
}

// commands returns the commands of all pages that begin with a program's name, by their page, without comments.
func commands(t *testing.T, program string) map[string][]string {
	t.Helper()
	byPage := map[string][]string{}
	comment := regexp.MustCompile(`\s+#.*$`)
	for page, contents := range blocks(t, "sh", "console") {
		for line := range strings.Lines(strings.ReplaceAll(strings.Join(contents, ""), "\\\n", " ")) {
			line = comment.ReplaceAllString(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "")
			if strings.HasPrefix(line, program+" ") {
				byPage[page] = append(byPage[page], line)
			}
		}
	}
	return byPage
}

// The chart accepts the values of each helm command of the pages, and each of these values changes the release or its hooks.
func TestTheChartTakesTheValuesOfThePages(t *testing.T) {
	tried := 0
	for page, lines := range commands(t, "helm") {
		for _, command := range lines {
			words := strings.Fields(command)
			for i, word := range words {
				if word != "--set" || strings.HasPrefix(words[i+1], "images.prefix=") {
					continue
				}
				tried++
				defaults, changed := object{}, object{}
				// A value that only counts with a part of the chart is tried with this part turned on.
				parent, name, _ := strings.Cut(words[i+1], ".")
				if enable := switches[parent]; enable != "" && !strings.HasPrefix(name, enable) {
					defaults[parent], changed[parent] = object{enable: true}, object{enable: true}
				}
				if err := strvals.ParseInto(words[i+1], changed); err != nil {
					t.Errorf("%s: %s: %v", page, command, err)
				}
				defaultRelease, defaultHooks := chart(t, asYAML(t, defaults))
				release, hooks := chart(t, asYAML(t, changed))
				if reflect.DeepEqual(defaultRelease, release) && reflect.DeepEqual(defaultHooks, hooks) {
					t.Errorf("%s: %s changes nothing: %s", page, words[i+1], command)
				}
			}
		}
	}
	if tried < 10 {
		t.Errorf("found %d values", tried)
	}
}

// switches are the values that turn a part of the chart on.
var switches = map[string]string{"agent": "install", "alerts": "enabled", "dashboard": "enabled", "console": "enabled", "serviceMonitor": "enabled"}

func asYAML(t *testing.T, values object) string {
	t.Helper()
	content, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// releaseFiles are files of a release that the repository does not have.
var releaseFiles = []string{"install.yaml", "uninstall.yaml"}

func TestTheFilesThatPagesNameAreThere(t *testing.T) {
	file := regexp.MustCompile(`(?:-f|--patch-file|--filename) ([\w./-]+\.yaml)`)
	tried := 0
	for page, lines := range commands(t, "kubectl") {
		for _, command := range lines {
			for _, match := range file.FindAllStringSubmatch(command, -1) {
				tried++
				if strings.HasPrefix(command, "kubectl addon ") || slices.Contains(releaseFiles, match[1]) {
					continue // examples of the plugin's own page are run in the folder of its tests
				}
				if _, err := os.Stat(filepath.Join("../..", match[1])); err != nil {
					t.Errorf("%s: %s: %v", page, command, err)
				}
			}
		}
	}
	if tried < 5 {
		t.Errorf("found %d files", tried)
	}
}

// The kustomizations of the pages build, from this repository instead of its address.
func TestTheKustomizationsOfThePagesBuild(t *testing.T) {
	address := regexp.MustCompile(`https://git\.example\.com/interlock//deploy/([\w-]+)\?ref=v[\d.]+`)
	built := map[string]objects{}
	for page, contents := range blocks(t, "yaml") {
		for _, content := range contents {
			if !strings.HasPrefix(content, "resources:") && !strings.HasPrefix(content, "components:") {
				continue
			}
			overlay, err := os.MkdirTemp("../../deploy", ".overlay-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(overlay) })
			content = address.ReplaceAllString(content, "../$1")
			if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			made := base(t, overlay)
			if made["Deployment/"+namespace+"/interlock-addon-manager"] == nil {
				t.Errorf("%s: no addon-manager of\n%s", page, content)
			}
			built[content] = made
		}
	}
	if len(built) < 2 {
		t.Errorf("found %d kustomizations", len(built))
	}
	for content, made := range built {
		rendered := asYAML(t, object{"all": slices.Collect(maps.Values(made))})
		if strings.Contains(content, "newName: registry.example.com/interlock-addon-manager") &&
			(strings.Contains(rendered, "image: "+testPrefix+"addon-manager") ||
				!strings.Contains(rendered, "image: registry.example.com/interlock-addon-manager:0.1.0")) {
			t.Errorf("other images than these:\n%s", content)
		}
	}
}
