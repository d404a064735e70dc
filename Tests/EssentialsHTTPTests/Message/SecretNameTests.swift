import EssentialsHTTP
import Testing

@Suite struct SecretNameTests {
    @Test(
        "Names of secrets are recognized by their words",
        arguments: [
            "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Cookie2", "X-Api-Key", "Api-Key", "ApiKey",
            "apikey", "X-Auth-Token", "X-Auth", "X-Auth-Key", "X-Auth-Email", "X-Otp", "X-OTP-Code", "X-Pin", "X-Jwt",
            "X-JWT-Assertion", "X-Hmac", "X-Hmac-SHA256", "X-Csrf-Token", "X-CSRFToken", "X-Xsrf-Token", "X-XSRF",
            "X-Amz-Security-Token", "X-Amz-Signature", "Private-Token", "X-Vault-Token", "X-Signature", "Signature",
            "Signature-Input", "X-Hub-Signature-256", "X-Goog-Api-Key", "X-Goog-IAM-Authority-Selector-Token",
            "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Session-Id", "X-SessionId", "X-Sid", "X-Client-Secret",
            "X-Password", "X_PASSWD", "X-Pwd", "X-Passphrase", "X-Credentials", "X-Credential", "DPoP", "X-Bearer",
            "WWW-Authenticate", "Authentication-Info", "X-Encryption-Key", "X-Rsa-Private-Key", "X-Sas-Sig",
            "X-Key", "Key", "KEY", "access_token", "accessToken", "client_secret", "api.key", "user[pin]", "token[]",
            "refreshtoken", "sessionid", "oauth_verifier", "PHPSESSIONID", "X--Pin", "_pin_", "pass",
        ])
    func secrets(name: String) {
        for place in Self.places {
            #expect(SecretName.isSecret(name, place))
            #expect(SecretName.isSecret(name.lowercased(), place))
            #expect(SecretName.isSecret(name.uppercased(), place))
        }
    }

    private static let places: [SecretName.Places] = [.shown, .sent, .stored]

    @Test(
        "Compounds and names of sessions are secret everywhere",
        arguments: [
            "X-Access-Code", "X-Passkey", "X-Ticket", "X-Sessid", "X-Invite-Code", "X-Verification-Code", "accessCode",
            "client_assertion", "clientAssertion", "code_verifier", "codeVerifier", "device_code", "SAMLResponse",
            "SAMLRequest", "SAMLart", "PHPSESSID", "passkey", "X-One-Time-Code", "X-OneTime-Code", "X-2FA",
            "recovery-code", "X-Assertion", "X-Login-Ticket", "X-My-Device-Code",
        ])
    func compounds(name: String) {
        for place in Self.places {
            #expect(SecretName.isSecret(name, place))
            #expect(SecretName.isSecret(name.lowercased(), place))
            #expect(SecretName.isSecret(name.uppercased(), place))
            #expect(SecretName.isSecret(encoded: name, place))
        }
    }

    @Test(
        "Short names of OAuth are hidden as whole names, and neither kept from other origins nor from disks",
        arguments: ["code", "ticket", "assertion", "user_code", "Code", "TICKET", "code[]"])
    func shownNames(name: String) {
        #expect(SecretName.isSecret(name, .shown))
        #expect(!SecretName.isSecret(name, .sent))
        #expect(!SecretName.isSecret(name, .stored))
        #expect(SecretName.isSecret(name, [.sent, .shown]))
        #expect(!SecretName.isSecret("my-" + name, .shown))
    }

    @Test("What accompanies a trace is hidden, and kept from other origins")
    func baggage() {
        for name in ["baggage", "Baggage"] {
            #expect(SecretName.isSecret(name, .shown) && SecretName.isSecret(name, .sent))
            #expect(!SecretName.isSecret(name, .stored))
        }
        #expect(!SecretName.isSecret("baggage-claim", .shown))
    }

    @Test(
        "Names that only resemble those of secrets are not secret",
        arguments: [
            "Idempotency-Key", "Sec-WebSocket-Key", "Keep-Alive", "Author", "Authority", "X-Author-Id", "Surrogate-Key",
            "Cache-Key", "Accept", "Accept-Language", "User-Agent", "Content-Type", "ETag", "If-Match", "Range",
            "X-Shipping", "X-Spin", "Ping", "X-Passenger", "X-Compass", "Bypass", "X-Keyboard", "X-Monkey", "X-Hotkeys",
            "X-Design", "Design-Sigma", "X-Otpor", "X-Inside", "Priority", "X-Request-Id", "Traceparent", "Tracestate",
            "q", "page", "", "-", "---", "Referer", "Location", "Secure", "X-Authors", "X-Opinion", "X-Country-Code",
            "zip_code", "X-Error-Code", "code_challenge", "assessId", "X-Ticket-Id", "tickets", "assertions", "passkit",
            "codes", "X-Code-Page", "country.code", "access", "client", "codec", "promoCode", "X-Device-Codename",
        ])
    func harmless(name: String) {
        for place in Self.places {
            #expect(!SecretName.isSecret(name, place))
            #expect(!SecretName.isSecret(name.lowercased(), place))
            #expect(!SecretName.isSecret(name.uppercased(), place))
        }
    }

    @Test(
        "The name of a query item is decoded first, and one that cannot be decoded counts as secret",
        arguments: [
            ("q", false), ("a%20b", false), ("%C3%A9", false), ("tok%65n", true), ("%zz", true), ("a%", true),
            ("a%2", true), ("%ff", true), ("%2574oken", true), ("", true), ("c%6Fde%5Fverifier", true),
        ])
    func encodedNames(name: String, isSecret: Bool) {
        for place in Self.places { #expect(SecretName.isSecret(encoded: name, place) == isSecret) }
    }

    @Test("A non-ASCII word is not split into secret ones, and a very long name counts as secret")
    func oddNames() {
        #expect(!SecretName.isSecret("épiné", .shown))
        #expect(!SecretName.isSecret("pin\u{0301}", .shown))
        #expect(SecretName.isSecret(String(repeating: "a", count: 2000), .shown))
        #expect(!SecretName.isSecret(String(repeating: "a-", count: 500), .shown))
    }
}
