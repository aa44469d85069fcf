package io.writepath.testsupport;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/**
 * The direction of dependencies, and where settings come from. The {@code ArchitectureTests} of each application run
 * these over it and over the modules that it uses: {@code @ArchTest static final ArchTests rules =
 * ArchTests.in(ArchitectureRules.class);}
 */
public final class ArchitectureRules {

    private static final String[] APPLICATIONS = {
        "io.writepath.jpareader..",
        "io.writepath.jpawriter..",
        "io.writepath.elasticsearchwriter..",
        "io.writepath.rabbitmqjpaproducer..",
        "io.writepath.rabbitmqjpaconsumer..",
        "io.writepath.rabbitmqelasticsearchproducer..",
        "io.writepath.rabbitmqelasticsearchconsumer..",
        "io.writepath.tutorial.."
    };

    /** An application is a leaf: what two of them need lives in a module below both. */
    @ArchTest
    static final ArchRule NOTHING_ELSE_IMPORTS_AN_APPLICATION = noClasses()
            .that()
            .resideOutsideOfPackages(APPLICATIONS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(APPLICATIONS)
            .allowEmptyShould(true);

    /** What makes a variant worse on purpose is switched on from outside, and nothing is written for its sake. */
    @ArchTest
    static final ArchRule NOTHING_KNOWS_OF_CONTROLS = noClasses()
            .that()
            .resideOutsideOfPackage("io.writepath.controls..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.writepath.controls..")
            .allowEmptyShould(true);

    /** Publishing and consuming know of no store, nor of each other: an application puts them together. */
    @ArchTest
    static final ArchRule QUEUES_IMPORT_NO_STORE = noClasses()
            .that()
            .resideInAnyPackage("io.writepath.queue..", "io.writepath.rabbitmq..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.writepath.store..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule PRODUCER_AND_CONSUMER_NEVER_IMPORT_EACH_OTHER = slices().matching(
                    "io.writepath.rabbitmq.(*)..")
            .should()
            .notDependOnEachOther()
            .allowEmptyShould(true);

    /** A store serves an ingress and a consumer alike, so it knows of neither. */
    @ArchTest
    static final ArchRule STORES_NEVER_IMPORT_WEB = noClasses()
            .that()
            .resideInAPackage("io.writepath.store..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.writepath.web..", "org.springframework.web..", "jakarta.servlet..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule STORES_NEVER_IMPORT_EACH_OTHER = slices().matching("io.writepath.store.(*)..")
            .should()
            .notDependOnEachOther()
            .allowEmptyShould(true);

    /** The ports are plain Java: whatever implements them may choose its own framework. */
    @ArchTest
    static final ArchRule PORTS_IMPORT_NO_FRAMEWORK = noClasses()
            .that()
            .resideInAPackage("io.writepath.post..")
            .should()
            .dependOnClassesThat()
            .resideOutsideOfPackages("io.writepath.post..", "java..", "org.jspecify..")
            .allowEmptyShould(true);

    /** A setting is a component of a record, which is validated at the start and has metadata. */
    @ArchTest
    static final ArchRule NO_SETTING_IS_READ_BY_VALUE = noClasses()
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("org.springframework.beans.factory.annotation.Value")
            .allowEmptyShould(true);

    private ArchitectureRules() {}
}
