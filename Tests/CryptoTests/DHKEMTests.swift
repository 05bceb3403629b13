import Crypto
import Encoding
import Testing

@Suite struct DHKEMTests {
    /// RFC 9180 appendix A.3, the parts that are of the KEM.
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let ephemeralInput, ephemeralScalar, ephemeralPoint: String
        let recipientInput, recipientScalar, recipientPoint: String
        let secret: String
        var testDescription: String { name }
    }

    static let vectors = [
        Vector(
            name: "RFC 9180 A.3.1",
            ephemeralInput: "4270e54ffd08d79d5928020af4686d8f6b7d35dbe470265f1f5aa22816ce860e",
            ephemeralScalar: "4995788ef4b9d6132b249ce59a77281493eb39af373d236a1fe415cb0c2d7beb",
            ephemeralPoint: "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac9"
                + "8536d7b61a1af4b78e5b7f951c0900be863c403ce65c9bfcb9382657222d18c4",
            recipientInput: "668b37171f1072f3cf12ea8a236a45df23fc13b82af3609ad1e354f6ef817550",
            recipientScalar: "f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2",
            recipientPoint: "04fe8c19ce0905191ebc298a9245792531f26f0cece2460639e8bc39cb7f706a82"
                + "6a779b4cf969b8a0e539c7f62fb3d30ad6aa8f80e30f1d128aafd68a2ce72ea0",
            secret: "c0d26aeab536609a572b07695d933b589dcf363ff9d93c93adea537aeabb8cb8"),
        Vector(
            name: "RFC 9180 A.3.2",
            ephemeralInput: "2afa611d8b1a7b321c761b483b6a053579afa4f767450d3ad0f84a39fda587a6",
            ephemeralScalar: "57427244f6cc016cddf1c19c8973b4060aa13579b4c067fd5d93a5d74e32a90f",
            ephemeralPoint: "04305d35563527bce037773d79a13deabed0e8e7cde61eecee403496959e89e4d0"
                + "ca701726696d1485137ccb5341b3c1c7aaee90a4a02449725e744b1193b53b5f",
            recipientInput: "d42ef874c1913d9568c9405407c805baddaffd0898a00f1e84e154fa787b2429",
            recipientScalar: "438d8bcef33b89e0e9ae5eb0957c353c25a94584b0dd59c991372a75b43cb661",
            recipientPoint: "040d97419ae99f13007a93996648b2674e5260a8ebd2b822e84899cd52d87446ea"
                + "394ca76223b76639eccdf00e1967db10ade37db4e7db476261fcc8df97c5ffd1",
            secret: "2e783ad86a1beae03b5749e0f3f5e9bb19cb7eb382f2fb2dd64c99f15ae0661b"),
    ]

    @Test(arguments: vectors)
    func `keys derived from the vector's input are the vector's keys`(vector: Vector) throws {
        let ephemeral = try DHKEM.deriveKeyPair(ikm: hex(vector.ephemeralInput))
        #expect(Hex.encode(try ephemeral.scalar) == vector.ephemeralScalar)
        #expect(Hex.encode(ephemeral.publicKey.x963) == vector.ephemeralPoint)
        let recipient = try DHKEM.deriveKeyPair(ikm: hex(vector.recipientInput))
        #expect(Hex.encode(try recipient.scalar) == vector.recipientScalar)
        #expect(Hex.encode(recipient.publicKey.x963) == vector.recipientPoint)
    }

    @Test(arguments: vectors)
    func `both sides get the vector's shared secret`(vector: Vector) throws {
        let recipient = try P256.PrivateKey(scalar: hex(vector.recipientScalar))
        let sent = try DHKEM.encapsulate(
            to: recipient.publicKey, ephemeral: P256.PrivateKey(scalar: hex(vector.ephemeralScalar)))
        #expect(Hex.encode(sent.encapsulation) == vector.ephemeralPoint)
        #expect(Hex.encode(sent.secret) == vector.secret)
        let received = try DHKEM.decapsulate(hex(vector.ephemeralPoint), with: recipient)
        #expect(received.take().map { Hex.encode($0) } == vector.secret)
    }

    @Test func `what one side encapsulates the other decapsulates, and nobody else`() throws {
        let entropy = Entropy(seed: [1])
        for _ in 0..<50 {
            let recipient = try P256.PrivateKey.generate(entropy)
            let sent = try DHKEM.encapsulate(to: recipient.publicKey, ephemeral: .generate(entropy))
            #expect(sent.encapsulation.count == DHKEM.encapsulationLength)
            #expect(sent.secret.count == DHKEM.secretLength)
            #expect(try DHKEM.decapsulate(sent.encapsulation, with: recipient).take() == sent.secret)
            let other = try P256.PrivateKey.generate(entropy)
            #expect(try DHKEM.decapsulate(sent.encapsulation, with: other).take() != sent.secret)
        }
    }

    @Test func `an encapsulation that is no point of the curve is refused`() throws {
        let key = try P256.PrivateKey.generate(Entropy(seed: [2]))
        let good = key.publicKey.x963
        let bent: [[UInt8]] = [
            [], Array(good.dropLast()), good + [0], [2] + good[1...32], [0], [6] + good.dropFirst(),
        ]
        for bad in bent {
            #expect(throws: CryptoError.pointEncoding) { try DHKEM.decapsulate(bad, with: key) }
        }
        for bit in [100, 300, 519] {
            #expect(throws: CryptoError.pointNotOnCurve) {
                try DHKEM.decapsulate(flipping(bit: bit, of: good), with: key)
            }
        }
    }

    @Test func `key material shorter than a key is refused, and every byte of it counts`() throws {
        #expect(throws: CryptoError.keyMaterialLength(31)) {
            try DHKEM.deriveKeyPair(ikm: [UInt8](repeating: 7, count: 31))
        }
        let ikm = [UInt8](repeating: 7, count: 40)
        let key = try DHKEM.deriveKeyPair(ikm: ikm).publicKey
        #expect(try DHKEM.deriveKeyPair(ikm: ikm).publicKey == key)
        for byte in ikm.indices {
            #expect(try DHKEM.deriveKeyPair(ikm: flipping(bit: 8 * byte, of: ikm)).publicKey != key)
        }
    }
}
