import CEssentials
import EssentialsTestKit
import EssentialsTransport
import Foundation
import ServiceEssentials
import Testing

@testable import EssentialsCurl

// Refusals of the trust gates.
extension FailureMaker {
    static func trust() async throws -> [PrintedFailure] {
        let lists = try [pem("intermediate.crl.pem"), pem("root.crl.pem")]
        return try await [
            failure("An unknown authority", server(), policy: TrustPolicy(anchors: anchors("rogue-root"))),
            failure("A certificate for another name", server(), host: "127.0.0.1"),
            failure("A server with another key than the pinned one", server(), policy: pinned()),
            failure(
                "A revoked certificate", server("leaf-revoked"),
                policy: TrustPolicy(hosts: [], anchors: anchors(), revocation: .lists(lists))),
            failure(
                "A server without the OCSP response that the policy requires", server(),
                policy: TrustPolicy(hosts: [], anchors: anchors(), revocation: .stapled(isRequired: true))),
        ]
    }

    /// All verdicts of the gates. Most of them need a fault of a server, a library or a caller, so they are made from a
    /// report of the gate.
    static func verdicts() throws -> [PrintedFailure] {
        try [
            verdict("An expired certificate", CE_VERDICT_CHAIN, "certificate has expired", 10),
            verdict("A certificate that is not valid yet", CE_VERDICT_CHAIN, "certificate is not yet valid", 9),
            verdict("A missing intermediate", CE_VERDICT_CHAIN, "unable to get local issuer certificate", 20),
            verdict("A certificate for clients", CE_VERDICT_CHAIN, "unsuitable certificate purpose", 26),
            verdict("A weak key", CE_VERDICT_CHAIN, "EE certificate key too weak", 66),
            verdict("A missing revocation list", CE_VERDICT_CHAIN, "unable to get certificate CRL", 3),
            verdict("A connection to another TLS peer", CE_VERDICT_PEER, "other.test"),
            verdict("A connection of another policy", CE_VERDICT_OTHER_TRUST),
            verdict("A reused connection with TLS 1.2", CE_VERDICT_TLS_TOO_OLD, "TLSv1.2"),
            verdict("A connection without proof", CE_VERDICT_EVIDENCE),
            verdict("A certificate that has expired on a reused connection", CE_VERDICT_EXPIRED),
            verdict("A connection that is not encrypted", CE_VERDICT_PLAINTEXT),
            verdict("Pins that have expired", CE_VERDICT_RULE_EXPIRED),
            verdict("System anchors that cannot be read", CE_VERDICT_ANCHORS, "no certificate"),
            verdict("A chain that cannot be checked for lack of memory", CE_VERDICT_INTERNAL, "out of memory", 17),
            PrintedFailure(
                title: "A thread that cannot be started", error: Failures.noThread(SystemError(code: EAGAIN))),
            PrintedFailure(
                title: "Too many open files", error: Failures.noDescriptor("an eventfd", SystemError(code: EMFILE))),
            PrintedFailure(
                title: "A forked process in which tasks ran before", error: Failures.lostTasks),
        ]
    }

    private static func verdict(
        _ title: String, _ verdict: ce_verdict, _ text: String = "", _ error: Int32 = 0
    ) throws -> PrintedFailure {
        var report = ce_report()
        report.verdict = verdict
        report.x509_error = error
        withUnsafeMutableBytes(of: &report.text) { $0.copyBytes(from: text.utf8) }
        let failure = GateReport(&report).failure(host: "pin.test", phase: .handshake)
        return PrintedFailure(title: title, error: try #require(failure))
    }
}
