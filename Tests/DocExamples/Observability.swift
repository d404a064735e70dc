// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsObservability
import ServiceEssentials

private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }

// HAR/HARRecorder.swift
private func harRecorderExample() async throws {
    let recorder = HARRecorder()
    configuration.observers = [recorder]
    // after some requests
    try recorder.har.write(to: "/tmp/requests.har")
}
