package declaration

import (
	"reflect"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// prunedFrom reports whether a value is equal to the complete value, or to it without some properties.
func prunedFrom(value, complete any) bool {
	switch value := value.(type) {
	case map[string]any:
		complete, ok := complete.(map[string]any)
		for name, property := range value {
			completeProperty, has := complete[name]
			ok = ok && has && prunedFrom(property, completeProperty)
		}
		return ok
	case []any:
		complete, ok := complete.([]any)
		ok = ok && len(complete) == len(value)
		for i := 0; ok && i < len(value); i++ {
			ok = prunedFrom(value[i], complete[i])
		}
		return ok
	default:
		return reflect.DeepEqual(complete, value)
	}
}

// merge returns now with the properties of the record that its writer could not see,
// because they were missing in before, with which the writer started.
func merge(before, now, recorded map[string]any) map[string]any {
	merged := make(map[string]any, len(now))
	for name, value := range now {
		merged[name] = mergeValue(before[name], value, recorded[name])
	}
	for name, value := range recorded {
		_, visible := before[name]
		if _, has := now[name]; !has && !visible {
			merged[name] = value
		}
	}
	return merged
}

func mergeValue(before, now, recorded any) any {
	switch now := now.(type) {
	case map[string]any:
		before, _ := before.(map[string]any)
		recorded, _ := recorded.(map[string]any)
		return merge(before, now, recorded)
	case []any:
		before, _ := before.([]any)
		recorded, _ := recorded.([]any)
		return mergeList(before, now, recorded)
	default:
		return now
	}
}

// mergeList merges each element with its state before. before and the record have the same elements
// in the same order, unless one of the two lacks the list.
func mergeList(before, now, recorded []any) []any {
	original := before
	if len(original) == 0 {
		original = recorded
	}
	indexes := map[string][]int{}
	for i, element := range original {
		indexes[identityOf(element)] = append(indexes[identityOf(element)], i)
	}
	merged := make([]any, len(now))
	for i, element := range now {
		identity, index := identityOf(element), -1
		if candidates := indexes[identity]; len(candidates) > 0 {
			index, indexes[identity] = candidates[0], candidates[1:]
		}
		merged[i] = mergeValue(elementAt(before, index), element, elementAt(recorded, index))
	}
	return merged
}

func elementAt(list []any, index int) any {
	if index < 0 || index >= len(list) {
		return nil
	}
	return list[index]
}

// identityOf returns the stable part of an element: the name of an edge, the add-on or API of an
// alternative, group, version and kind of an API, or key and operator of a requirement on labels.
func identityOf(element any) string {
	object, _ := element.(map[string]any)
	if name, ok := object["name"].(string); ok {
		return name
	}
	if addOn, ok := object["addOn"].(string); ok {
		return addOn
	}
	if api, ok := object["api"].(map[string]any); ok {
		return identityOf(api)
	}
	var parts []string
	for _, property := range []string{"group", "version", "kind", "key", "operator"} {
		part, _ := object[property].(string)
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

// declaresNothing reports whether all fields are empty.
func declaresNothing(fields map[string]any) bool {
	for _, value := range fields {
		switch value := value.(type) {
		case []any:
			if len(value) == 0 {
				continue
			}
		case map[string]any:
			if len(value) == 0 {
				continue
			}
		case string: // the default of ordering
			if value == string(addonv1alpha1.OrderingNone) {
				continue
			}
		}
		return false
	}
	return true
}
