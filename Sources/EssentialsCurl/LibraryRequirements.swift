import CEssentials
import EssentialsTransport

/// What the engine needs of the libraries that the system provides.
enum LibraryRequirements {
    /// What was found.
    struct Facts: Sendable {
        var curlVersion: String
        var curlVersionNumber: UInt32
        var tlsVersion: String
        var openSSLVersionNumber: UInt
        var hasHTTP2: Bool
        var resolvesAsynchronously: Bool
    }

    /// The facts of this process. The first call initialises libcurl.
    static func facts() -> Facts {
        let found = ce_libraries()
        return Facts(
            curlVersion: String(cString: found.curl_version), curlVersionNumber: found.curl_version_number,
            tlsVersion: String(cString: found.tls_version), openSSLVersionNumber: UInt(found.openssl_version_number),
            hasHTTP2: found.http2, resolvesAsynchronously: found.asynchronous_names)
    }

    /// Throws `tls` with what was found and what is needed.
    static func check(_ facts: Facts) throws(RequestFailure) {
        guard facts.curlVersionNumber >= 0x07_58_00 else {
            throw failure("libcurl \(facts.curlVersion) was found; 7.88 or newer is needed.")
        }
        // "OpenSSL/3.0.22"; a list of several backends puts the inactive ones in parentheses.
        guard facts.tlsVersion.hasPrefix("OpenSSL/3"), facts.openSSLVersionNumber >> 28 >= 3 else {
            throw failure("libcurl was found with the TLS library \(facts.tlsVersion); OpenSSL 3 is needed.")
        }
        guard facts.resolvesAsynchronously else {
            throw failure("libcurl \(facts.curlVersion) resolves names on the caller's thread.")
        }
    }

    private static func failure(_ message: String) -> RequestFailure {
        RequestFailure(
            .tls, message, remedy: "Install the OpenSSL flavour of libcurl 7.88 or newer (Debian: libcurl4).")
    }
}
