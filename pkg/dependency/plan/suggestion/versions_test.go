package suggestion

import (
	"fmt"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

func TestImage(t *testing.T) {
	pods := func(kind, containers string) string {
		return fmt.Sprintf(`{apiVersion: apps/v1, kind: %s, metadata: {name: x}, spec: {template: {spec: {containers: [%s]}}}}`, kind, containers)
	}
	for name, test := range map[string]struct {
		manifests []string
		want      string
	}{
		"nothing":                  {nil, ""},
		"no workload":              {[]string{object("", "ConfigMap")}, ""},
		"the first container":      {[]string{object("", "ConfigMap"), pods("Deployment", "{image: 'a:1'}, {image: 'b:2'}")}, "a:1"},
		"the first Deployment":     {[]string{pods("Deployment", "{image: 'a:1'}"), pods("Deployment", "{image: 'b:2'}")}, "a:1"},
		"a Deployment comes first": {[]string{pods("DaemonSet", "{image: 'a:1'}"), pods("Deployment", "{image: 'b:2'}")}, "b:2"},
		"a DaemonSet":              {[]string{pods("DaemonSet", "{image: 'a:1'}")}, "a:1"},
		"a StatefulSet":            {[]string{pods("StatefulSet", "{image: 'a:1'}")}, "a:1"},
		"a Job is soon over": {
			[]string{`{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: {spec: {containers: [{image: 'a:1'}]}}}}`}, "",
		},
		"no container":         {[]string{pods("Deployment", "")}, ""},
		"what is no container": {[]string{pods("Deployment", "7")}, ""},
		"no image":             {[]string{pods("Deployment", "{name: x}"), pods("Deployment", "{image: 'b:2'}")}, "b:2"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := Image(workload(t, "a", test.manifests...).Manifests)
			if got != test.want || ok != (test.want != "") {
				t.Errorf("got %q, %t", got, ok)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	deployed := func(addOn, image string, clusters ...string) Evidence {
		return Evidence{AddOn: addOn, Image: image, Clusters: clusters}
	}
	template := func(name, image string, clusters ...string) Evidence {
		return Evidence{AddOn: "a", Template: name, Image: image, Clusters: clusters}
	}
	onRegistration := versions.AnnotateCommand("clustermanagementaddon", "a", "1.0.0")
	onCluster := func(cluster, version string) string { return versions.AnnotateOnCluster(cluster, "a", version) }
	for name, test := range map[string]struct {
		evidence   []Evidence
		oneCluster bool
		want       []string // version or reason, images, clusters and commands
	}{
		"nothing": {},
		"one version everywhere": {
			evidence: []Evidence{deployed("a", "x:v1.0.0", "c2"), deployed("a", "x:v1.0.0", "c1")},
			want:     []string{"a 1.0.0 [x:v1.0.0] [c1 c2]: " + onRegistration},
		},
		"by a mirror": {
			evidence: []Evidence{deployed("a", "x:v1.0.0", "c2"), deployed("a", "mirror/x:v1.0.0", "c1")},
			want:     []string{"a 1.0.0 [mirror/x:v1.0.0 x:v1.0.0] [c1 c2]: " + onRegistration},
		},
		"on one cluster, of all that it is": {
			evidence: []Evidence{deployed("a", "x:v1.0.0", "c1")}, oneCluster: true,
			want: []string{"a 1.0.0 [x:v1.0.0] [c1]: " + onCluster("c1", "1.0.0")},
		},
		"two versions": {
			evidence: []Evidence{deployed("a", "x:v0.9.0", "c1"), deployed("a", "x:v1.0.0", "c2"), deployed("a", "x:v1.0.0", "c3")},
			want: []string{
				"a 1.0.0 [x:v1.0.0] [c2 c3]: " + onRegistration,
				"a 0.9.0 [x:v0.9.0] [c1]: " + onCluster("c1", "0.9.0"),
			},
		},
		"by digest": {
			evidence: []Evidence{deployed("a", "x@sha256:1", "c1"), deployed("a", "x@sha256:2", "c2")},
			want:     []string{"a cannot tell: image by digest [x@sha256:1 x@sha256:2] [c1 c2]: "},
		},
		"by digest on one": {
			evidence: []Evidence{deployed("a", "x@sha256:1", "c1"), deployed("a", "x:v1.0.0", "c2"), deployed("a", "x:v1.0.0", "c3")},
			want: []string{
				"a 1.0.0 [x:v1.0.0] [c2 c3]: " + onCluster("c2", "1.0.0") + "; " + onCluster("c3", "1.0.0"),
				"a cannot tell: image by digest [x@sha256:1] [c1]: ",
			},
		},
		"no image": {
			evidence: []Evidence{{AddOn: "a", Reason: "no ManifestWork", Clusters: []string{"c1"}}},
			want:     []string{"a cannot tell: no ManifestWork [] [c1]: "},
		},
		"a template": {
			evidence: []Evidence{template("a-1", "x:v1.0.0", "c1", "c2")},
			want: []string{"a 1.0.0 [x:v1.0.0] [c1 c2]: kubectl annotate addontemplate a-1 " +
				"dependency.addon.open-cluster-management.io/version=1.0.0"},
		},
		"a template on one cluster, of all that it is": {
			evidence: []Evidence{template("a-1", "x:v1.0.0", "c1")}, oneCluster: true,
			want: []string{"a 1.0.0 [x:v1.0.0] [c1]: kubectl annotate addontemplate a-1 dependency.addon.open-cluster-management.io/version=1.0.0"},
		},
		"a template that runs nowhere": {
			evidence: []Evidence{template("a-1", "x:v1.0.0")},
			want: []string{
				"a 1.0.0 [x:v1.0.0] []: kubectl annotate addontemplate a-1 dependency.addon.open-cluster-management.io/version=1.0.0",
			},
		},
		"two templates": {
			evidence: []Evidence{template("a-1", "x:v1.0.0", "c1"), template("a-2", "x:v2.0.0", "c2", "c3")},
			want: []string{
				"a 2.0.0 [x:v2.0.0] [c2 c3]: kubectl annotate addontemplate a-2 dependency.addon.open-cluster-management.io/version=2.0.0",
				"a 1.0.0 [x:v1.0.0] [c1]: kubectl annotate addontemplate a-1 dependency.addon.open-cluster-management.io/version=1.0.0",
			},
		},
		"two add-ons": {
			evidence: []Evidence{deployed("b", "x:1.0.0", "c1"), deployed("a", "x:latest", "c1", "c2")},
			want: []string{
				`a cannot tell: tag "latest" is no semantic version [x:latest] [c1 c2]: `,
				"b 1.0.0 [x:1.0.0] [c1]: " + versions.AnnotateCommand("clustermanagementaddon", "b", "1.0.0"),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, version := range Versions(test.evidence, !test.oneCluster) {
				result := version.Version
				if version.CannotTell != "" {
					result += "cannot tell: " + version.CannotTell
				}
				got = append(got, fmt.Sprintf("%s %s %v %v: %s",
					version.AddOn, result, version.Images, version.Clusters, strings.Join(version.Commands, "; ")))
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
