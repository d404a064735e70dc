// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsFoundation
import EssentialsHTTP
import Foundation

private var failure: RequestFailure { given() }
private var components: (url: URL, path: String) { given() }

// RequestFailure+CustomNSError.swift
private func requestFailureCustomNSErrorExample() async throws {
    let error = NSError(failure)
    print(error.domain, error.code, error.localizedDescription)
}

// RequestURL+URL.swift
private func requestURLURLExample() async throws {
    let request = TransportRequest(.get, try RequestURL(components.url))
    use(request)
}
