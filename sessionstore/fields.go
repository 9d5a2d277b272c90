package sessionstore

import "strings"

// The known fields. Their snake_case spelling is accepted and becomes the camelCase
// of the HTTP contract. A field in none of these lists stays as it came.
var (
	eventFields = names("id", "invocationId", "author", "timestamp", "utcOffset", "content", "actions", "partial",
		"turnComplete", "branch", "longRunningToolIds", "errorCode", "errorMessage", "interrupted",
		"customMetadata", "usageMetadata", "groundingMetadata", "citationMetadata", "finishReason", "avgLogprobs",
		"logprobsResult", "modelVersion",
		"cacheMetadata", "inputTranscription", "outputTranscription", "liveSessionResumptionUpdate", "interactionId",
		"turnCompleteReason", "interactionStatus", "liveSessionId", "goAway", "voiceActivity", "environmentId",
		"output", "nodeInfo",
		"isolationScope")
	actionFields = names("stateDelta", "artifactDelta", "transferToAgent", "skipSummarization", "escalate",
		"endOfAgent",
		"agentState", "requestedAuthConfigs", "requestedToolConfirmations", "compaction", "rewindBeforeInvocationId",
		"renderUiWidgets", "transferReason", "route", "setModelResponse")
	partFields = names("text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall",
		"functionResponse", "executableCode", "codeExecutionResult", "videoMetadata", "mediaResolution", "toolCall",
		"toolResponse",
		"partMetadata", "audioTranscription", "mediaProcessing", "speechMetadata")
	// typed has the fields whose values have types of genai or ADK, and typedFields
	// the names inside such values.
	typed = set("usageMetadata", "groundingMetadata", "citationMetadata", "logprobsResult", "cacheMetadata",
		"inputTranscription",
		"outputTranscription", "liveSessionResumptionUpdate", "goAway", "voiceActivity", "nodeInfo", "compaction",
		"inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult",
		"videoMetadata",
		"mediaResolution", "toolCall", "toolResponse", "audioTranscription", "mediaProcessing", "speechMetadata")
	typedFields = names("audioOffset", "audioTranscription", "authorAttribution", "boolValue", "cacheName",
		"cacheTokensDetails",
		"cachedContentTokenCount", "candidatesTokenCount", "candidatesTokensDetails", "chosenCandidates", "chunkId",
		"codeExecutionResult", "compactedContent", "confidenceScores", "contentsCount", "createdAt", "customMetadata",
		"displayName",
		"distanceMeters", "documentName", "encodedPolyline", "endIndex", "endOffset", "endTimestamp", "executableCode",
		"expireTime",
		"fileData", "fileId", "fileSearchStore", "fileUri", "firstPage", "flagContentUri", "functionCall",
		"functionResponse",
		"googleMapsUri", "googleMapsWidgetContextToken", "googleSearchDynamicRetrievalScore", "groundingChunkIndices",
		"groundingChunks", "groundingSupports", "imageSearchQueries", "imageUri", "inlineData", "invocationsUsed",
		"jsonPath",
		"languageCode", "lastConsumedClientMessageIndex", "lastPage", "logProbability", "logProbabilitySum", "mediaId",
		"mediaProcessing", "mediaResolution", "messageAsOutput", "mimeType", "newHandle", "nullValue", "numTokens",
		"numberValue",
		"numericValue", "outputFor", "pageNumber", "pageSpan", "partIndex", "partMetadata", "partialArgs", "photoUri",
		"placeAnswerSources", "placeId", "promptTokenCount", "promptTokensDetails", "publicationDate", "ragChunk",
		"relativePublishTimeDescription", "renderedContent", "renderedParts", "retrievalMetadata", "retrievalQueries",
		"retrievedContext", "reviewId", "reviewSnippet", "reviewSnippets", "sdkBlob", "searchEntryPoint",
		"sourceFlaggingUris",
		"sourceId", "sourceUri", "speakerLabel", "speechMetadata", "startIndex", "startOffset", "startTimestamp",
		"stringListValue", "stringValue", "thoughtSignature", "thoughtsTokenCount", "timeLeft", "tokenCount", "tokenId",
		"toolCall",
		"toolResponse", "toolType", "toolUsePromptTokenCount", "toolUsePromptTokensDetails", "topCandidates",
		"totalTokenCount",
		"trafficType", "videoMetadata", "voiceActivityType", "webSearchQueries", "willContinue")
	// freeForm has the fields inside such values whose names are the client's own.
	freeForm = set("args", "response", "partMetadata", "customMetadata")
)

// set is a set of names.
func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// names maps both spellings of each name to the camelCase one.
func names(camel ...string) map[string]string {
	out := map[string]string{}
	for _, n := range camel {
		var b strings.Builder
		for _, r := range n {
			if r >= 'A' && r <= 'Z' {
				b.WriteByte('_')
				r += 'a' - 'A'
			}
			b.WriteRune(r)
		}
		out[b.String()] = n
		out[n] = n
	}
	return out
}
