// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Logging
import ServiceEssentials
import Testing

@testable import EssentialsRequests

private struct Draft: Codable, Sendable { static let empty = Draft() }
private struct Key { func signature(of text: String) throws -> String { text } }
private func sha256(_ bytes: Data) -> String { "" }
private func sign(_ url: RequestURL) -> String { "" }

private struct TenantInterceptor: RequestInterceptor { let tenant: String }

private let tenant = String?.none
private let draft = Draft?.none
private let text = ""
private var request: DataRequest { get { given() } set {} }
private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }
private var url: RequestURL { given() }

// Interceptors/EncodedRequest.swift
private struct EncodedRequestExample {
    func sign(_ request: inout EncodedRequest) async throws {
        let payload = if case .bytes(let bytes) = request.content { sha256(bytes) } else { "UNSIGNED-PAYLOAD" }
        let canonical = [request.method.rawValue, String(request.url.path), request.host, payload]
        request.headerFields[.authorization] = try key.signature(of: canonical.joined(separator: "\n"))
    }
    let key = Key()
}

// Interceptors/RequestDraft.swift
private struct RequestDraftExample {
    func prepare(_ draft: inout RequestDraft) async throws {
        try draft.add(.checked(name: "X-Signature", value: sign(draft.url)), onCollision: .replace)
    }
}

// Request/DataRequest+Curl.swift
private struct DataRequestCurlExample {
    func prepare(_ draft: inout RequestDraft) async throws {
        let command = try draft.curlCommand()
        logger.trace("a draft", metadata: ["command": "\(command)"])
    }
    let logger = Logger(label: "app")
}

// Interceptors/RequestInterceptor.swift
private func requestInterceptorExample() async throws {
    struct TenantInterceptor: RequestInterceptor {
        let tenant: String
        func prepare(_ draft: inout RequestDraft) async throws {
            try draft.add(.checked(name: "X-Tenant", value: tenant))
            draft.parameters["lang"] = "en"
        }
    }
}

// Interceptors/RequestInterceptor.swift
private func requestInterceptorExample2() async throws {
    struct InvalidInput: Error, Decodable { var field: String }

    struct InputErrors: RequestInterceptor {
        func received(_ outcome: HopOutcome) async throws {
            guard outcome.status == .unprocessableContent, let body = outcome.body else { return }
            throw try JSONDecoder().decode(InvalidInput.self, from: body)
        }
    }
    // The caller: catch { if let error = error.underlying as? InvalidInput { mark(error.field) } }
}

// Interceptors/RequestPreparationDelegate.swift
private func requestPreparationDelegateExample() async throws {
    final class Session: RequestPreparationDelegate {
        func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields { [.acceptLanguage: "en"] }
    }
    let session = Session()                     // the application keeps it
    configuration.interceptors.append(DelegateInterceptor(session))
}
