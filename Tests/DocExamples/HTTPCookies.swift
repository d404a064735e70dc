// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsTestKit
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsHTTP

private struct Label { var text = "" }

private let app = Application()
private let logger = Logger(label: "app")
private let locator = ServiceLocator(name: "app")
private let jar = CookieJar()
private var label: Label { get { Label() } set {} }
private var response: TransportResponse { given() }
private var request: TransportRequest { get { given() } set {} }
private var url: RequestURL { given() }
private var line: UnsafeBufferPointer<UInt8> { given() }
private var now: Date { given() }
private var suffixes: PublicSuffixRules { given() }
private var storage: any CookieStorage { given() }
private var next: any Transport { given() }

// Cookies/Cookie.swift
private func cookieExample() async throws {
    jar.store("sid=31d4d96e; Path=/; Secure; HttpOnly", from: url)
    for cookie in jar.cookies(includingHTTPOnly: true) { print(cookie.name, cookie.domain, cookie.path) }
}

// Cookies/CookieField.swift
private func cookieFieldExample() async throws {
    if let cookies = jar.field(for: request.url) { cookies.add(to: &request.headerFields) }
}

// Cookies/CookieMachine.swift
@Listed private func cookieMachineExample() async throws -> [Any] {
    var machine = CookieMachine()
    let cookie = try CookieRules.cookie(from: line, at: url, now: now, suffixes: suffixes)
    machine.store(cookie, isSecureOrigin: true, now: now)
    machine.field(for: url, now: now)?.bytes
}

// Cookies/CookieRefusal.swift
private func cookieRefusalExample() async throws {
    for refusal in jar.store(response.headerFields, from: url) { logger.debug("\(refusal)") }
}

// Cookies/Jar/CookieFile.swift
private func cookieFileExample() async throws {
    let jar = try CookieJar(file: CookieFile("/var/lib/app/cookies.txt"))
    // … the program runs …
    try await jar.flush()
}

// Cookies/Jar/CookieJar+Listing.swift
private func cookieJarListingExample() async throws {
    jar.removeCookies { $0.expires == nil }        // ends the session
}

// Cookies/Jar/CookieJar.swift
private func cookieJarExample() async throws {
    let jar = CookieJar()
    jar.store(response.headerFields, from: url)
    jar.field(for: url)?.add(to: &request.headerFields)

    let shared = try CookieJar(file: CookieFile("cookies.txt"))
    try await shared.flush()                                     // before the program ends
}

// Cookies/Jar/CookieStorage.swift
private func cookieStorageExample() async throws {
    try locator.register(CookieJar(), as: (any CookieStorage).self)

    // A stage does this for each attempt and each redirect hop:
    storage.field(for: request.url)?.add(to: &request.headerFields)
    let response = try await next.send(request)
    storage.store(response.headerFields, from: request.url)
}

// Cookies/PublicSuffixes/PublicSuffixRules.swift
private func publicSuffixRulesExample() async throws {
    let jar = CookieJar(publicSuffixes: try .file("/usr/share/publicsuffix/public_suffix_list.dat"))
    print(jar.publicSuffixSource)        // file /usr/share/publicsuffix/public_suffix_list.dat, 9506 rules
}
