package org.apache.spark.sql.hive.thriftserver.chronicle

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.security.{MessageDigest, SecureRandom}
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap
import javax.crypto.{Mac, SecretKeyFactory}
import javax.crypto.spec.{PBEKeySpec, SecretKeySpec}
import javax.security.sasl.AuthenticationException

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.hive.service.auth.PasswdAuthenticationProvider

/** Users of a file with lines `name:pbkdf2_sha256:iterations:salt:hash`, salt and hash in base64, as `chronicle password` writes
  * them. The file is read at each connection: users who are removed from it cannot connect any more.
  */
class PasswordFile extends PasswdAuthenticationProvider {
  override def Authenticate(user: String, password: String): Unit =
    if (!PasswordFile.accepts(user, password)) throw new AuthenticationException("user or password is wrong")
}

object PasswordFile {
  @volatile var path: Path = _
  /** Checked where there is no such user, so that the answer takes as long. */
  private val Nobody = "-:pbkdf2_sha256:600000:AAAAAAAAAAAAAAAAAAAAAA==:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
  private val FirstDelay = 100L
  private val LongestDelay = 5000L
  /** How often in a row a password was wrong, and until when (in nanoseconds of this process) none is looked at. */
  private case class Wrong(times: Int, until: Long)
  /** By user of the file, and one for all names that are not in it. */
  private val wrongs = new ConcurrentHashMap[String, Wrong]()
  /** What was accepted, by a key of this process: tools connect for each query, and each hash takes tenths of a second. */
  private val accepted = ConcurrentHashMap.newKeySet[String]()
  private val key = { val bytes = new Array[Byte](32); new SecureRandom().nextBytes(bytes); new SecretKeySpec(bytes, "HmacSHA256") }

  def accepts(user: String, password: String): Boolean = {
    val found = Try(Files.readAllLines(path).asScala.find(_.startsWith(s"$user:"))).toOption.flatten
    val line = found.filter(_ => user != null && user.nonEmpty && !user.contains(":")).getOrElse(Nobody)
    val told = Option(password).getOrElse("")
    val seen = mark(line, told)
    accepted.contains(seen) || judged(line, told, seen)
  }

  /** One password at a time: a hash takes tenths of a second of a processor, and those who guess must not take all of them. After each wrong one the next
    * for the same user is not even looked at for a while. Who was accepted before does not wait.
    */
  private def judged(line: String, password: String, seen: String): Boolean = synchronized {
    val user = line.takeWhile(_ != ':')
    val wrong = wrongs.getOrDefault(user, Wrong(0, 0))
    if (accepted.contains(seen)) true
    else if (System.nanoTime < wrong.until) false
    else if (fits(line, password) && (line ne Nobody)) {
      wrongs.remove(user)
      accepted.add(seen)
      true
    } else {
      val delay = math.min(FirstDelay << math.min(wrong.times, 20), LongestDelay)
      wrongs.put(user, Wrong(wrong.times + 1, System.nanoTime + delay * 1000000))
      false
    }
  }

  private def fits(line: String, password: String): Boolean = Try {
    val Array(_, "pbkdf2_sha256", iterations, salt, hash) = line.trim.split(":")
    val wanted = Base64.getDecoder.decode(hash)
    val spec = new PBEKeySpec(password.toCharArray, Base64.getDecoder.decode(salt), iterations.toInt, wanted.length * 8)
    MessageDigest.isEqual(wanted, SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded)
  }.getOrElse(false)

  private def mark(line: String, password: String): String = {
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(key)
    Base64.getEncoder.encodeToString(mac.doFinal(s"$line\u0000$password".getBytes(UTF_8)))
  }
}
