package crdgraft

import "k8s.io/apimachinery/pkg/runtime"

// overlayProperties puts ours into the properties of their schema, in place.
func overlayProperties(theirs, ours map[string]any) {
	properties, ok := theirs["properties"].(map[string]any)
	if !ok {
		properties = make(map[string]any, len(ours))
		theirs["properties"] = properties
	}
	for name, schema := range ours {
		ourSchema, isSchema := schema.(map[string]any)
		theirSchema, exists := properties[name].(map[string]any)
		if !isSchema || !exists {
			properties[name] = runtime.DeepCopyJSONValue(schema)
			continue
		}
		properties[name] = overlay(theirSchema, ourSchema)
	}
}

// overlay returns our schema, together with the fields at any depth that only
// theirs has. Keywords are taken from ours alone: a limit that ours no longer
// sets must not survive from an earlier graft.
func overlay(theirs, ours map[string]any) map[string]any {
	result := runtime.DeepCopyJSON(ours)
	if _, hasFields := theirs["properties"].(map[string]any); hasFields {
		ourProperties, _ := ours["properties"].(map[string]any)
		overlayProperties(theirs, ourProperties)
		result["properties"] = theirs["properties"]
	}
	theirItems, theirsIsList := theirs["items"].(map[string]any)
	ourItems, oursIsList := ours["items"].(map[string]any)
	if theirsIsList && oursIsList {
		result["items"] = overlay(theirItems, ourItems)
	}
	return result
}
