import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

/// Certificates, keys and lists that are damaged at some place. The address sanitizer checks that no code reads beyond
/// their ends.
@Suite("Attacks: damaged certificates", .serialized)
struct DamagedCertificateTests {
    private func damaged(_ bytes: [UInt8], _ numbers: inout SeededNumbers) -> [UInt8] {
        var bytes = bytes
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &numbers))
        case 1: bytes.remove(at: Int.random(in: 0..<bytes.count, using: &numbers))
        case 2:
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            bytes.insert(contentsOf: bytes[..<place].suffix(40), at: place)
        default:
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
            }
        }
        return bytes
    }

    @Test("Damaged certificates in a PEM text are read or refused", arguments: 0..<4)
    func pem(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let chain = try Fixture.bytes("leaf.chain.pem")
        var refused = 0
        for _ in 0..<500 {
            let text = String(decoding: damaged(chain, &numbers), as: UTF8.self)
            do throws(RequestFailure) {
                let pem = try PEM(text)
                #expect(try !CertificateChain(pem).certificates.isEmpty)
                _ = try CompiledTrust(TrustPolicy(anchors: .only([pem])))
            } catch {
                #expect(error.reason == .invalidPolicy)
                refused += 1
            }
        }
        #expect(refused > 100)
    }

    @Test("Damaged certificates in a chain are never trusted", arguments: 0..<4)
    func chains(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let chain = try Fixture.chain("leaf").map(\.der)
        let trust = try CompiledTrust(TrustPolicy(anchors: Fixture.anchors("root")))
        try trust.evaluate(chain: chain, host: HostName("pin.test"))
        for _ in 0..<500 {
            var wrong = chain
            wrong[0] = damaged(chain[0], &numbers)
            guard wrong[0] != chain[0] else { continue }
            let failure = #expect(throws: RequestFailure.self) {
                try trust.evaluate(chain: wrong, host: HostName("pin.test"))
            }
            #expect([.trustChain, .trustHost, .tls].contains(failure?.reason))
        }
    }

    @Test("Damaged keys, encrypted keys and revocation lists are refused or used", arguments: 0..<4)
    func others(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let (certificate, anchors) = try (Fixture.pem("client-a.pem"), Fixture.anchors("root"))
        for file in ["client-a.key", "client-a-encrypted.key", "intermediate.crl.pem"] {
            let bytes = try Fixture.bytes(file)
            for _ in 0..<100 {
                do throws(RequestFailure) {
                    let pem = try PEM(String(decoding: damaged(bytes, &numbers), as: UTF8.self))
                    if file.hasSuffix("crl.pem") {
                        _ = try CompiledTrust(TrustPolicy(hosts: [], anchors: anchors, revocation: .lists([pem])))
                        continue
                    }
                    let identity =
                        pem.isEncrypted
                        ? try ClientIdentity(certificate: certificate, encryptedKey: pem) { "test passphrase" }
                        : try ClientIdentity(certificate: certificate, privateKey: pem)
                    _ = try CompiledTrust(TrustPolicy(anchors: anchors, identity: identity))
                } catch {
                    #expect(error.reason == .invalidPolicy)
                }
            }
        }
    }
}
