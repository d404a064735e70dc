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

private struct User: Codable, Sendable, Equatable {
    var name = ""
    var pictureURL = ""
    var filmURL = ""
}
private final class Profiles: Sendable { func removeAll() async {} }
private let profiles = Profiles()

private struct StagingShop: APIService { let baseURL: RequestBase }
private let staging = StagingShop(baseURL: "https://staging.example.com/v1/")

private let app = Application()
private let locator = ServiceLocator(name: "app")
private let (user, password) = (User(), "")
private let (token, stagingToken) = ("", "")
private var requests: HTTPDataRequestService { given() }
private var service: HTTPDataRequestService { given() }
private var response: DataResponse { given() }
private var request: DataRequest { get { given() } set {} }
private var origin: Origin { given() }

// Authorization/AuthenticationChallenge.swift
private func authenticationChallengeExample() async throws {
    let challenges = AuthenticationChallenge.all(in: response.headerFields)
    let basic = challenges.first { $0.scheme == "basic" }
    use(basic)
}

// Authorization/AuthorizationService.swift
private func authorizationServiceExample() async throws {
    try locator.register(service, as: (any DataRequestService).self, (any AuthorizationService).self)
    try locator.resolve((any AuthorizationService).self).setAuthorization(.bearer(token))
}

// Authorization/AuthorizationService.swift
private func authorizationServiceExample2(staging: EnvironmentSnapshot) async throws {
    service.setAuthorization(try .bearer(stagingToken), for: staging)
}

// Authorization/Credentials.swift
private func credentialsExample() async throws {
    requests.setAuthorization(try .bearer(token))
    requests.setAuthorization(try .basic(user: "ada", password: "…"))
    requests.setAuthorization(try .digest(user: "ada", password: "…"))       // with import ServiceEssentials
}

// Authorization/Credentials.swift
private func credentialsAccountExample(user: (id: String, name: String)) async throws {
    var credentials = try Credentials.bearer(token)
    credentials.account = EntityPartition(user.id)
    requests.setAuthorization(credentials)
}

// Authorization/DigestMachine.swift
private func digestMachineExample(challenge: DigestChallenge, request: DigestRequest, random: String, another: String) throws {
    var machine = DigestMachine()
    let ticket = machine.take(challenge, cnonce: random)          // count 1
    machine.accepted(ticket, nextNonce: nil)
    let next = machine.anticipate(request, cnonce: another)   // count 2, in advance
    use(next)
}

// Authorization/DigestMinimum.swift
private func digestMinimumExample() async throws {
    requests.setAuthorization(try .digest(user: "ada", password: "…", minimum: DigestMinimum(.sha256)))
}

// Authorization/PrivateStateRegistry.swift
final class ProfileCache: PrivateStateStore {
    init(requests: any DataRequestService) throws(RequestFailure) {
        try requests.privateStateRegistry?.add(privateStateStore: self)
    }

    func clearPrivateState(of origin: Origin) async { await profiles.removeAll() }
}
