package backoff

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Content is the content of a part of an object, for comparison.
type Content struct {
	part   string
	status metav1.ConditionStatus
	// text is the message of a condition, or a field as JSON.
	reason, text string
}

// Condition returns the content of a condition, without its times.
func Condition(condition metav1.Condition) Content {
	return Content{part: condition.Type, status: condition.Status, reason: condition.Reason, text: condition.Message}
}

// Field returns the content of a field. A field that has no JSON is never written.
func Field(name string, value any) Content {
	text, _ := json.Marshal(value)
	return Content{part: name, text: string(text)}
}
