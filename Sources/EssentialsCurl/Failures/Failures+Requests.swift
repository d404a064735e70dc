import CEssentials
import EssentialsTransport

// Requests that are refused before anything is sent.
extension Failures {
    static func otherPolicy(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .otherTrust, "The request to \(origin.host) asks for another trust policy than the transport has.",
            phase: .queue, host: origin.host.text)
    }

    static func plaintext(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .plaintextRefused, "\(origin) is not encrypted, and the policy has pins for it.", host: origin.host.text)
    }

    static func forwardedHTTP2(_ origin: Origin) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "An http request through an HTTP proxy cannot insist on HTTP/2.",
            remedy: "Use https, another kind of proxy, or any version.", host: origin.host.text)
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
        RequestFailure(.invalidRequest, "The body's length is negative.", remedy: "Give nil for unknown.")
    }

    // MARK: Fields that are the transport's own

    static var transferEncodingField: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request sets Transfer-Encoding.",
            remedy: "Leave framing to the transport; stream the body for a chunked one.")
    }

    static var expectField: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request sets Expect.", remedy: "Set the option continueWait instead.")
    }

    static var proxyAuthorizationField: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request sets Proxy-Authorization, which would reach the server too.",
            remedy: "Give the proxy its user and password.")
    }

    static var hostField: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request sets Host to something else than its URL.",
            remedy: "Put the name in the URL, and lead it elsewhere with an address override.")
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
