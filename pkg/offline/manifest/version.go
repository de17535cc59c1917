package manifest

import (
	"fmt"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/report"
)

// judgeVersion judges the versions that the annotations of an object report. An index takes the same versions, and the value for the version
// of Open Cluster Management is for a hub only.
func judgeVersion(annotations map[string]string) []review.Judgement {
	var judged []review.Judgement
	for _, key := range versions.Annotations {
		version, ok := annotations[key]
		if version = strings.TrimSpace(version); !ok || version == versions.OCM {
			continue
		}
		field := fmt.Sprintf("metadata.annotations[%s]", key)
		if version == "" {
			judged = append(judged, invalidVersion(field, "it is empty: set a version, or remove the annotation"))
		} else if _, err := versions.ParseRelease(version); err != nil {
			judged = append(judged, invalidVersion(field, err.Error()))
		}
	}
	return judged
}

// judgeTemplateVersion judges the version of an AddOnTemplate, from its annotation or else from its label.
func judgeTemplateVersion(annotations, labels map[string]string) []review.Judgement {
	judged := judgeVersion(annotations)
	if version := versions.OfTemplate(nil, labels); len(judged) == 0 && versions.OfTemplate(annotations, nil) == "" && version != "" {
		if _, err := versions.ParseRelease(version); err != nil {
			return []review.Judgement{invalidVersion(fmt.Sprintf("metadata.labels[%s]", addonv1alpha1.TemplateVersionLabel), err.Error())}
		}
	}
	return judged
}

func invalidVersion(field, message string) review.Judgement {
	return review.Judgement{Rule: report.RuleInvalidVersion, Wrong: true, Field: field, Message: field + ": " + message}
}
