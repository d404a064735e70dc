import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: rules and values")
struct BlobRulesTests {
    @Test(
        "Only whole responses are stored, and sensitive ones only if that is allowed",
        arguments: [
            (200, "", false, false, true), (203, "", false, false, true), (204, "", false, false, false),
            (206, "", false, true, false), (200, "no-store", false, false, false), (200, "no-store", false, true, true),
            (200, "", true, false, false), (200, "", true, true, true),
        ])
    func storing(status: Int, cacheControl: String, isPersonal: Bool, allowsSensitive: Bool, isStored: Bool) {
        let fields: HTTPFields = cacheControl.isEmpty ? [:] : [.cacheControl: cacheControl]
        #expect(
            BlobRules.allowsStoring(
                status, fields, isPersonal: isPersonal, partition: .shared, allowsSensitive: allowsSensitive)
                == isStored)
    }

    @Test(
        "A token server that cannot be reached or has failed is an outage, and one that refuses is not",
        arguments: [
            (RequestFailure(.connection, ""), true), (RequestFailure(.timeout, ""), true),
            (failure(.status, 503), true), (failure(.authorization, 500), true), (failure(.authorization, 429), false),
            (failure(.status, 404), false), (RequestFailure(.pinMismatch, ""), false),
        ])
    func tokenOutage(cause: RequestFailure, isOutage: Bool) {
        let failure = RequestFailure(.authorization, "", underlying: cause)
        #expect(failure.changed { $0.isTemporary = true }.isOutage == isOutage)
        #expect(!failure.isOutage)
        #expect(!Self.failure(.authorization, 503).isOutage)
    }

    private static func failure(_ reason: RequestFailure.Reason, _ code: Int) -> RequestFailure {
        RequestFailure(
            reason, "",
            response: FailedResponse(head: HTTPResponse(status: HTTPResponse.Status(code: code)), body: Data()))
    }

    @Test("Names of the first formats are distinguished from current names and from others")
    func names() {
        let name = RecordKey(EntityKey(url: "https://h/a", stage: BlobRecord.stage)).name
        let hashes = name.text.split(separator: "-").prefix(3).joined(separator: "-")
        for outdated in [hashes + ".entity", hashes + "-0123456789abcdef.body", ".entity-1f.tmp"] {
            #expect(BlobRecord.isOutdated(outdated))
        }
        let names = [
            name.text, RecordBodyName(name, 1).text, RecordDirectory.temporaryName(), FingerprintKeyFile.name, "", ".",
            "a.entity", "a.body", hashes, hashes + ".body", hashes + "-0123456789abcdef.entity", ".removals",
            ".numbers",
        ]
        for other in names { #expect(!BlobRecord.isOutdated(other), "\(other)") }
    }
}
