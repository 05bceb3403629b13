import Encoding
import JOSE
import Testing

@Suite(.enabled(if: Wycheproof.isPresent, Wycheproof.skipped))
struct WycheproofTests {
    @Test func `JSON web signatures`() throws {
        // Where we differ on purpose.
        let explained: [Int64: String] = [
            259: "an empty payload: nothing in these protocols signs nothing", 272: "an empty payload",
            346: "signed with PS384, and the key says PS256", 350: "signed with PS384, and the key says PS256",
        ]
        var compared = 0
        for group in try Wycheproof.groups("json_web_signature") {
            let name = (group["public"] ?? group["private"])?["alg"]?.string ?? ""
            for test in try #require(group["tests"]?.array) {
                let text = try #require(test["jws"]?.string)
                let id = try #require(test["tcId"]?.int)
                guard let algorithm = JWSAlgorithm(rawValue: name), let key = group["public"] else {
                    // Groups of MACs and other curves: nothing here takes any of them.
                    #expect(throws: JOSEError.self) {
                        let jws = try JWS(compact: text)
                        _ = try jws.verify(JWK(group["public"] ?? .null), algorithms: JWSAlgorithm.allCases)
                    }
                    continue
                }
                let jwk = try JWK(key)
                let accepted = (try? JWS(compact: text).verify(jwk, algorithms: [algorithm])) != nil
                let agreed = accepted == (test["result"] == "valid")
                #expect(agreed == (explained[id] == nil), "\(id) \(test["comment"]?.string ?? "")")
                compared += 1
            }
        }
        #expect(compared > 200)
    }

    @Test func `JSON web keys`() throws {
        // Where we differ on purpose.
        let explained: [Int64: String] = [
            2: "a MAC, and MACs are not spoken here", 13: "a MAC", 14: "a MAC", 15: "a MAC",
            7: "weak primes cannot be seen without factoring; the key is a good one by its form",
        ]
        var compared = 0
        for group in try Wycheproof.groups("json_web_key") {
            let set = try? JWKSet(group["public"] ?? group["private"] ?? .null)
            for test in try #require(group["tests"]?.array) {
                let id = try #require(test["tcId"]?.int)
                let jws = try? JWS(compact: #require(test["jws"]?.string))
                let accepted = jws.map { jws in
                    guard let algorithm = JWSAlgorithm(rawValue: jws.algorithm) else { return false }
                    let keys = set?.candidates(keyID: jws.keyID, algorithm: algorithm) ?? []
                    return keys.contains { (try? jws.verify($0, algorithms: [algorithm])) != nil }
                }
                let agreed = (accepted ?? false) == (test["result"] == "valid")
                #expect(agreed == (explained[id] == nil), "\(id) \(test["comment"]?.string ?? "")")
                compared += 1
            }
        }
        #expect(compared == 26)
    }

    @Test func `JSON web encryption, A256KW with A256GCM`() throws {
        var (opened, refused) = (0, 0)
        for group in try Wycheproof.groups("json_web_encryption") {
            let secret = group["private"]
            guard secret?["kty"] == "oct", let key = try? Base64URL.decode(secret?["k"]?.string ?? "") else { continue }
            for test in try #require(group["tests"]?.array) {
                // One case is in the JSON form, which is no text.
                let text = test["jwe"]?.string ?? test["jwe"].map { String(decoding: $0.serialized(), as: UTF8.self) }
                let plain = try? JWE.decrypt(#require(text), key: key).plain
                let isOurs = secret?["alg"] == "A256KW" && test["enc"] == "A256GCM"
                if test["result"] == "valid", isOurs {
                    #expect(try plain == Hex.decode(#require(test["pt"]?.string)))
                    opened += 1
                } else {
                    #expect(plain == nil, "\(test["tcId"]?.int ?? 0) \(test["comment"]?.string ?? "")")
                    refused += 1
                }
            }
        }
        #expect(opened == 1)
        #expect(refused > 40)
    }
}
