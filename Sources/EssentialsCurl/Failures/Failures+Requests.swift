import CEssentials
import EssentialsTransport

// Requests that are refused before anything is sent.
extension Failures {
    static func otherPolicy(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .otherTrust, "The request to \(origin.host) requires another trust policy than that of the transport.",
            phase: .queue, host: origin.host.text)
    }

    static func plaintext(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .plaintextRefused, "\(origin) is not encrypted, but the policy has pins for this host.",
            host: origin.host.text)
    }

    static func forwardedHTTP2(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "An http request through an HTTP proxy cannot require HTTP/2.",
            remedy: "Use https, another kind of proxy, or any version of HTTP.", host: origin.host.text)
    }

    static func headLines(_ count: Int, _ origin: Origin) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "maximumHeadLines is \(count).",
            remedy: "Use 1 to \(TransportOptions.headLinesMaximum).", host: origin.host.text)
    }

    static var headWithBody: RequestFailure {
        RequestFailure(.invalidRequest, "A HEAD request has a body.", remedy: "Use another method, or no body.")
    }

    static var negativeLength: RequestFailure {
        RequestFailure(.invalidRequest, "The body's length is negative.", remedy: "Use nil for an unknown length.")
    }

    // MARK: Fields that are the transport's own

    static var transferEncodingField: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request sets Transfer-Encoding.",
            remedy: "Remove the field; a streamed body without a length is sent in chunks.")
    }

    static var expectField: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request sets Expect.", remedy: "Set the option continueWait instead.")
    }

    static var proxyAuthorizationField: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request sets Proxy-Authorization, which would reach the server too.",
            remedy: "Set the user and password of the proxy instead.")
    }

    static var hostField: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request sets Host to another name than that of its URL.",
            remedy: "Put the name in the URL, and use an address override to connect elsewhere.")
    }

    /// A field that was copied from a response can have bytes that requests must not send.
    static func fieldValue(_ name: HTTPField.Name) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "The value of the header \(name.rawName) has a control character.",
            remedy: "Remove it; a value that a server sent is checked before it is sent back.")
    }

    // MARK: Refusals of libcurl

    /// libcurl has refused an option of the request with a CURLcode.
    static func option(_ name: String, _ code: Int32, _ prepared: PreparedRequest) -> RequestFailure {
        guard code != CurlCodes.noMemory else { return noMemory(prepared, phase: .preparation) }
        return RequestFailure(
            .invalidRequest, "libcurl refused \(name) (\(String(cString: ce_curl_text(code)))).",
            remedy: "Check the URL, the fields and the limits of the request.", host: prepared.origin.host.text)
    }

    /// libcurl has refused to run the request with a CURLMcode.
    static func multi(_ code: Int32, _ prepared: PreparedRequest) -> RequestFailure {
        guard code != CurlCodes.multiNoMemory else { return noMemory(prepared, phase: .preparation) }
        return RequestFailure(
            .invalidRequest, "libcurl refused curl_multi_add_handle (CURLMcode \(code)).",
            remedy: "Check the URL, the fields and the limits of the request.", host: prepared.origin.host.text)
    }
}
