// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsTestKit
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsHTTP

private let app = Application()
private let bar = app
private let transport = ScriptedTransport()
private var request: TransportRequest { get { given() } set {} }
private var redirects: any Transport { given() }

// Files/AbandonedFiles.swift
private func abandonedFilesExample() async throws {
    try await DownloadedFile.removeAbandoned(in: "/srv/films", partsUntouchedFor: .seconds(7 * 86_400))
}

// Files/DownloadOptions.swift
private func downloadOptionsExample() async throws {
    var options = DownloadOptions()
    options.resumes = true
    options.maximumSize = 10 << 30
}

// Files/DownloadedFile.swift
private func downloadedFileExample() async throws {
    let file = try await transport.download(request, to: "/srv/films/1.mp4")
    print(file.path, file.bytes, file.headerFields[.lastModified] ?? "-")
}

// Files/FileDownload.swift
private func fileDownloadExample() async throws {
    let file = try await FileDownload.run(request, to: "/srv/films/1.mp4") { request throws(RequestFailure) in
        try await redirects.send(request)
    }
    use(file)
}

// Files/ProgressReport.swift
private func progressReportExample() async throws {
    let report = ProgressReport { print($0.bytes, "of", $0.expected ?? -1) }
    try await transport.download(request, to: "/srv/films/1.mp4", progress: report)
}

// Files/RequestBody+Reporting.swift
private func requestBodyReportingExample() async throws {
    request.body = try RequestBody.file("/srv/films/1.mp4").reporting(to: ProgressReport { bar.show($0) })
}

// HAR/HAR.swift
private func harExample() async throws {
    let har = try HAR(contentsOf: "recording.har")
    for entry in har.entries { print(entry.request.method, entry.request.url, entry.response.status) }
}

// Files/TransferProgress.swift
private func transferProgressExample() async throws {
    let (report, values) = ProgressReport.stream()
    Task { for await progress in values { bar.show(progress.fraction ?? 0) } }
    try await transport.download(request, to: "/srv/films/1.mp4", progress: report)
}

// Files/Transport+Download.swift
private func transportDownloadExample() async throws {
    let file = try await transport.download(
        TransportRequest(.get, try RequestURL("https://example.com/films/1.mp4")), to: "/srv/films/1.mp4")
    use(file)
}
